/* SPDX-FileCopyrightText: The libtune authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
/// @file
/// libtune for C and for languages that call C: devices, buffers, tuning databases, tuning of
/// kernels and of functions, and the built-in operations. C11 and C++; link libtune_c.
///
/// **Errors.** Every function returns a status. LIBTUNE_OK is 0. After any other status
/// libtune_last_error() is a text for users: the request, the failure, and the remedy.
/// LIBTUNE_NOT_FOUND is an answer rather than a failure. No exception leaves the library, and none
/// may leave a callback. Results are written only with LIBTUNE_OK. A call with a null target for a
/// handle does nothing. A thread that is cancelled (pthread_cancel) within a call ends after it.
///
/// **Handles.** A function that returns a handle, by a pointer to a pointer of its type, makes the
/// caller its owner, who destroys it with the _destroy function of that type; destroying null does
/// nothing. Handles keep the objects that they were made from: a context may be destroyed before
/// its buffers.
///
/// **Texts and arrays.** Functions copy their arguments before they return, unless stated
/// otherwise. Returned texts and arrays belong to the handle of the call, and are valid until it is
/// destroyed or, where stated, until the next call for the same handle. Texts are UTF-8 and end
/// with 0; null stands for an empty text.
///
/// **Threads.** Devices, contexts, databases and templates may be used by several threads at once.
/// Any other handle is used by one thread at a time; different handles are independent. The last
/// error is the calling thread's.
///
/// **Stability.** Names, values and layouts here do not change within one LIBTUNE_C_ABI; functions
/// and enumerators may be added.
#ifndef LIBTUNE_C_API_LIBTUNE_H
#define LIBTUNE_C_API_LIBTUNE_H

#include <stddef.h>
#include <stdint.h>

/// The number of this interface. The library must have the same number, which libtune_abi returns.
#define LIBTUNE_C_ABI 1

#if defined(__GNUC__) && !defined(LIBTUNE_C_NO_VISIBILITY)
/// Marks the exports of the shared library.
#define LIBTUNE_C_EXPORT __attribute__((visibility("default")))
#else
/// Marks the exports of the shared library.
#define LIBTUNE_C_EXPORT
#endif

#ifdef __cplusplus
/// Makes each int a value of an enumeration in C++, as in C: values that are not enumerators are
/// refused.
#define LIBTUNE_C_ANY_INT : int
extern "C" {
#else
#define LIBTUNE_C_ANY_INT
#endif

/* ---- errors ---------------------------------------------------------------------------------- */

/// The outcome of a call.
typedef enum libtune_status LIBTUNE_C_ANY_INT {
  LIBTUNE_OK = 0,                 ///< success
  LIBTUNE_NOT_FOUND = 1,          ///< the result does not exist; no failure
  LIBTUNE_SKIPPED = 2,            ///< returned by a callback: this configuration must not be tried
  LIBTUNE_ERROR = 3,              ///< any failure other than the following
  LIBTUNE_ARGUMENT_ERROR = 4,     ///< the call is invalid: a wrong name, size or order
  LIBTUNE_TYPE_ERROR = 5,         ///< a value or an array has the wrong type
  LIBTUNE_ENVIRONMENT_ERROR = 6,  ///< an environment variable cannot be read
  LIBTUNE_NO_DEVICE = 7,          ///< no device matches
  LIBTUNE_DEVICE_ERROR = 8,       ///< the driver of a device refused a call
  LIBTUNE_OUT_OF_MEMORY = 9,      ///< the device or the host is out of memory
  LIBTUNE_BUILD_ERROR = 10,       ///< a kernel does not compile
  LIBTUNE_DATABASE_ERROR = 11,    ///< a database cannot be opened, read or written
  LIBTUNE_NOT_TUNED = 12,         ///< there is no result, and the mode or the lock forbids tuning
  LIBTUNE_TUNING_FAILED = 13,     ///< no configuration could be measured, or the space is empty
  LIBTUNE_STOPPED = 14            ///< a function of the caller ended the tuning
} libtune_status;

/// Returns the text of the last failure on this thread; never null, empty if there was none. Valid
/// until the next call of libtune on this thread.
LIBTUNE_C_EXPORT const char* libtune_last_error(void);

/// Sets that text. For callbacks, before they return a status other than LIBTUNE_OK: it becomes the
/// reason of the trial.
/// @param message  copied; null is an empty text
LIBTUNE_C_EXPORT libtune_status libtune_set_last_error(const char* message);

/// Decides if a tuning stops: any value other than 0 stops it. Called repeatedly until the tuning
/// call returns.
typedef int (*libtune_stop_function)(void* user);
/// Sets the function that libtune_tuner_tune and libtune_template_create call on this thread,
/// between the steps of a search and ten times a second during waits, including those for other
/// processes: for the signals and deadlines of the caller. They end with LIBTUNE_STOPPED after the
/// present step.
/// @param function  the function; null: none, the default of a thread
/// @param user  passed to each call; both must stay valid until another function is set
LIBTUNE_C_EXPORT libtune_status libtune_stop_by(libtune_stop_function function, void* user);

/// Returns the name of a status, such as "LIBTUNE_NO_DEVICE"; "unknown" for other numbers. A
/// constant.
LIBTUNE_C_EXPORT const char* libtune_status_name(libtune_status status);

/// Returns the version of the library, such as "1.0.0". A constant.
LIBTUNE_C_EXPORT const char* libtune_version(void);

/// Returns LIBTUNE_C_ABI of the library.
LIBTUNE_C_EXPORT int libtune_abi(void);

/* ---- values ---------------------------------------------------------------------------------- */

/// The type of a value.
typedef enum libtune_value_type LIBTUNE_C_ANY_INT {
  LIBTUNE_NONE = 0,  ///< no value
  LIBTUNE_BOOL = 1,  ///< as.integer: 0 or 1
  LIBTUNE_INT = 2,   ///< as.integer
  LIBTUNE_UINT = 3,  ///< as.natural
  LIBTUNE_REAL = 4,  ///< as.real
  LIBTUNE_TEXT = 5,  ///< as.text
  LIBTUNE_REALS = 6  ///< as.reals, with count elements. Only returned
} libtune_value_type;

/// The content of a libtune_value, by its type.
typedef union libtune_value_member {
  int64_t integer;      ///< the value of LIBTUNE_BOOL and LIBTUNE_INT
  uint64_t natural;     ///< the value of LIBTUNE_UINT
  double real;          ///< the value of LIBTUNE_REAL
  const char* text;     ///< the value of LIBTUNE_TEXT
  const double* reals;  ///< the values of LIBTUNE_REALS
} libtune_value_member;

/// A value whose type is known at run time.
typedef struct libtune_value {
  int32_t type;             ///< a libtune_value_type
  int32_t count;            ///< the number of reals of LIBTUNE_REALS; else 0
  libtune_value_member as;  ///< the member that the type names
} libtune_value;

/// A value with a name: of a parameter, a key field or a property.
typedef struct libtune_named_value {
  const char* name;     ///< not null
  libtune_value value;  ///< the value
} libtune_named_value;

/// Named columns of values with the same number of rows: trials, results.
typedef struct libtune_table libtune_table;

/// Gets the number of rows and of columns.
LIBTUNE_C_EXPORT libtune_status libtune_table_size(const libtune_table* table, size_t* rows,
                                                   size_t* columns);
/// Gets a column: its name, and an array with a value for each row.
LIBTUNE_C_EXPORT libtune_status libtune_table_column(const libtune_table* table, size_t column,
                                                     const char** name,
                                                     const libtune_value** values);
/// Destroys a table.
LIBTUNE_C_EXPORT libtune_status libtune_table_destroy(libtune_table* table);

/* ---- devices and contexts ------------------------------------------------------------------- */

/// A device that kernels can run on.
typedef struct libtune_device libtune_device;
/// The owner of the buffers, programs and queues of one device, with options for its tuning.
typedef struct libtune_context libtune_context;
/// An in-order, asynchronous queue of commands on one device.
typedef struct libtune_queue libtune_queue;
/// Untyped device memory.
typedef struct libtune_buffer libtune_buffer;

/// Gets the number of devices of all backends.
LIBTUNE_C_EXPORT libtune_status libtune_device_count(size_t* count);
/// Gets a device by its index in the order of LIBTUNE_DEVICE.
LIBTUNE_C_EXPORT libtune_status libtune_device_get(size_t index, libtune_device** device);
/// Gets the best device, or the one that LIBTUNE_DEVICE, CUDA_DEVICE or PYOPENCL_CTX names.
LIBTUNE_C_EXPORT libtune_status libtune_device_select(libtune_device** device);
/// Gets the properties of a device: name, platform, driver_version, backend ("CUDA", "OpenCL"),
/// kind ("GPU", "CPU", ...), architecture, max_work_group_size, local_memory_bytes,
/// global_memory_bytes, compute_units, simd_group_size, clock_khz, pci_address, uuid.
LIBTUNE_C_EXPORT libtune_status libtune_device_info(const libtune_device* device,
                                                    const libtune_named_value** properties,
                                                    size_t* count);
/// Destroys the handle of a device.
LIBTUNE_C_EXPORT libtune_status libtune_device_destroy(libtune_device* device);

/// Makes a context on a device; on CUDA it is the primary one, which other libraries use too.
LIBTUNE_C_EXPORT libtune_status libtune_context_create(const libtune_device* device,
                                                       libtune_context** context);
/// Gets the device of a context.
LIBTUNE_C_EXPORT libtune_status libtune_context_get_device(const libtune_context* context,
                                                           libtune_device** device);
/// Sets an option for all tunings in a context; the environment overrides it. Names and texts:
///  - "database": a path; "" for none
///  - "mode": "tune", "resume", "cached", "default", "force" or "behind"
///  - "match": "exact", "nearest" or "verify"
///  - "strategy": as LIBTUNE_STRATEGY; "seed": a number
///  - "budget": as LIBTUNE_BUDGET, "30 s, 200 trials"
///  - "objective": as LIBTUNE_OBJECTIVE, "max gflops"
///  - "isolation": "automatic", "on" or "off"
///  - "verify": "every", "finalists" or "none"
///  - "wait": seconds
/// @param context  the context
/// @param name  of the option
/// @param value  null restores the default
LIBTUNE_C_EXPORT libtune_status libtune_context_set_option(libtune_context* context,
                                                           const char* name, const char* value);
/// Gets the backend's handle: a CUcontext, or a cl_context.
LIBTUNE_C_EXPORT libtune_status libtune_context_native(const libtune_context* context,
                                                       uintptr_t* handle);
/// Destroys the handle of a context.
LIBTUNE_C_EXPORT libtune_status libtune_context_destroy(libtune_context* context);

/// Makes a queue.
LIBTUNE_C_EXPORT libtune_status libtune_queue_create(const libtune_context* context,
                                                     libtune_queue** queue);
/// Makes a queue of a stream of the application: a CUstream, which the application keeps alive (0
/// is the default stream), or a cl_command_queue, which is retained.
LIBTUNE_C_EXPORT libtune_status libtune_queue_wrap(const libtune_context* context, uintptr_t handle,
                                                   libtune_queue** queue);
/// Gets the backend's handle: a CUstream, or a cl_command_queue.
LIBTUNE_C_EXPORT libtune_status libtune_queue_native(const libtune_queue* queue, uintptr_t* handle);
/// Blocks until all enqueued commands have ended.
LIBTUNE_C_EXPORT libtune_status libtune_queue_finish(libtune_queue* queue);
/// Copies bytes from the host to a buffer, and blocks until the host may change them.
LIBTUNE_C_EXPORT libtune_status libtune_queue_write(libtune_queue* queue,
                                                    const libtune_buffer* destination,
                                                    size_t offset_bytes, const void* source,
                                                    size_t bytes);
/// Copies bytes from a buffer to the host, and blocks until they have arrived.
LIBTUNE_C_EXPORT libtune_status libtune_queue_read(libtune_queue* queue,
                                                   const libtune_buffer* source,
                                                   size_t offset_bytes, void* destination,
                                                   size_t bytes);
/// Enqueues a copy from one buffer to another.
LIBTUNE_C_EXPORT libtune_status libtune_queue_copy(libtune_queue* queue,
                                                   const libtune_buffer* destination,
                                                   size_t destination_offset_bytes,
                                                   const libtune_buffer* source,
                                                   size_t source_offset_bytes, size_t bytes);
/// Enqueues zeroing of bytes of a buffer.
LIBTUNE_C_EXPORT libtune_status libtune_queue_zero(libtune_queue* queue,
                                                   const libtune_buffer* destination,
                                                   size_t offset_bytes, size_t bytes);
/// Destroys the handle of a queue. Enqueued commands still run.
LIBTUNE_C_EXPORT libtune_status libtune_queue_destroy(libtune_queue* queue);

/// Makes a buffer with undefined contents.
LIBTUNE_C_EXPORT libtune_status libtune_buffer_create(const libtune_context* context, size_t bytes,
                                                      libtune_buffer** buffer);
/// Makes a buffer of memory of the application: a CUdeviceptr, which the application keeps alive
/// until the buffer and all operations bound to it are destroyed; or a cl_mem of the same
/// cl_context, which is retained.
/// @param context  the context of its use
/// @param handle  a CUdeviceptr, or a cl_mem
/// @param bytes  from that address on; at most the size of a cl_mem
/// @param buffer  receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_buffer_wrap(const libtune_context* context,
                                                    uintptr_t handle, size_t bytes,
                                                    libtune_buffer** buffer);
/// Gets the backend's handle: a CUdeviceptr, or a cl_mem.
LIBTUNE_C_EXPORT libtune_status libtune_buffer_native(const libtune_buffer* buffer,
                                                      uintptr_t* handle);
/// Gets the number of bytes.
LIBTUNE_C_EXPORT libtune_status libtune_buffer_size(const libtune_buffer* buffer, size_t* bytes);
/// Destroys the handle of a buffer. The memory is released when no other object refers to it.
LIBTUNE_C_EXPORT libtune_status libtune_buffer_destroy(libtune_buffer* buffer);

/* ---- databases ------------------------------------------------------------------------------ */

/// A tuning database for reading.
typedef struct libtune_database libtune_database;
/// The answer of a lookup.
typedef struct libtune_result libtune_result;

/// The devices whose results a lookup returns.
typedef enum libtune_match LIBTUNE_C_ANY_INT {
  LIBTUNE_EXACT = 0,   ///< only this device
  LIBTUNE_NEAREST = 1  ///< else the nearest device with a result for the same key
} libtune_match;

/// Opens a database for reading. It need not exist yet: then no result is found.
/// @param path  null: the one that tuning uses (LIBTUNE_DB, else the user's)
/// @param database  receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_database_open(const char* path,
                                                      libtune_database** database);
/// Gets the absolute path.
LIBTUNE_C_EXPORT libtune_status libtune_database_path(const libtune_database* database,
                                                      const char** path);
/// Looks up a result. Takes microseconds, except for the first lookup of a function.
/// @param database  the database
/// @param name     of the autotune function, such as "transpose_template.autotune"
/// @param version  its version; -1: the greatest in the database
/// @param key      values by the names of the key's fields, in any order. Numbers may be of any
///                 type that holds them exactly
/// @param key_count  their number
/// @param device  the device of the result
/// @param match  includes or excludes results of other devices
/// @param result  receives the handle
/// @returns LIBTUNE_NOT_FOUND for a missing result or function; LIBTUNE_ARGUMENT_ERROR,
///          LIBTUNE_TYPE_ERROR for other key fields
LIBTUNE_C_EXPORT libtune_status libtune_database_find(libtune_database* database, const char* name,
                                                      int version, const libtune_named_value* key,
                                                      size_t key_count,
                                                      const libtune_device* device,
                                                      libtune_match match, libtune_result** result);
/// Lists the functions: function, version, goal, results, searches, trials.
LIBTUNE_C_EXPORT libtune_status libtune_database_functions(libtune_database* database,
                                                           libtune_table** table);
/// Lists the results of a function: the fields of its key and of its values, then score_ns,
/// device_name, device_platform, device_version and tuned_at. A value with the name of a key field,
/// or of one of these columns, gets the prefix "value_".
/// @returns LIBTUNE_NOT_FOUND for an unknown function
LIBTUNE_C_EXPORT libtune_status libtune_database_results(libtune_database* database,
                                                         const char* name, int version,
                                                         libtune_table** table);
/// Lists every trial of every search of a function: search, arguments (a text), device_name,
/// started_at, the parameters, outcome, message, score_ns, score_lower_ns, score_upper_ns,
/// samples_ns and the metrics.
/// @returns LIBTUNE_NOT_FOUND for an unknown function
LIBTUNE_C_EXPORT libtune_status libtune_database_trials(libtune_database* database,
                                                        const char* name, int version,
                                                        libtune_table** table);
/// Destroys the handle of a database.
LIBTUNE_C_EXPORT libtune_status libtune_database_destroy(libtune_database* database);

/// Gets the values of the tuning.
LIBTUNE_C_EXPORT libtune_status libtune_result_values(const libtune_result* result,
                                                      const libtune_named_value** values,
                                                      size_t* count);
/// Gets the properties of a result: grade ("exact", "nearest"), step (in words), score_ns,
/// device_name, device_platform, device_version, differs (columns separated by commas).
LIBTUNE_C_EXPORT libtune_status libtune_result_info(const libtune_result* result,
                                                    const libtune_named_value** facts,
                                                    size_t* count);
/// Destroys a result.
LIBTUNE_C_EXPORT libtune_status libtune_result_destroy(libtune_result* result);

/* ---- tuning --------------------------------------------------------------------------------- */

/// A space of named parameters, and a way to measure its configurations: a kernel that is compiled
/// for each (libtune_tuner_create_kernel), or a function of the caller (libtune_tuner_create).
typedef struct libtune_tuner libtune_tuner;
/// The best configuration of a tuner, with the trials of the search.
typedef struct libtune_tuned libtune_tuned;
/// The arrays on the device after one run of a kernel.
typedef struct libtune_results libtune_results;
/// One or several kernels with slots for arrays, for given sizes and a queue.
typedef struct libtune_operation libtune_operation;
/// Captures frames of a pipeline to files.
typedef struct libtune_capture libtune_capture;
/// The snapshot of one frame that is captured.
typedef struct libtune_frame libtune_frame;
/// Writes the state of the program for its operators.
typedef struct libtune_metrics libtune_metrics;
/// Measures the frames of a pipeline.
typedef struct libtune_frame_clock libtune_frame_clock;

/// Measures one configuration. Called by the tuning thread.
/// @param user           as passed with the function
/// @param configuration  the values of all parameters; valid during the call
/// @param count          their number
/// @param iterations     the number of runs to make
/// @param seconds        receives the mean seconds of one run
/// @returns LIBTUNE_OK; LIBTUNE_SKIPPED, if it cannot run here; LIBTUNE_STOPPED ends the tuning;
///          any other status fails it. Each with a reason by libtune_set_last_error
typedef libtune_status (*libtune_measure_function)(void* user,
                                                   const libtune_named_value* configuration,
                                                   size_t count, int iterations, double* seconds);
/// Decides on one configuration: sets *allowed to 0 or 1. The answer must be the same for the same
/// values. A status other than LIBTUNE_OK ends the tuning.
typedef libtune_status (*libtune_restriction_function)(void* user,
                                                       const libtune_named_value* configuration,
                                                       size_t count, int* allowed);
/// Makes the text of a kernel for a configuration: sets *text, which is copied after the function
/// has returned. LIBTUNE_STOPPED ends the tuning.
typedef libtune_status (*libtune_source_function)(void* user,
                                                  const libtune_named_value* configuration,
                                                  size_t count, const char** text);
/// Checks the results of a run: LIBTUNE_OK if they are right, any other status if not, with the
/// reason by libtune_set_last_error; LIBTUNE_STOPPED ends the tuning. The results are valid during
/// the call.
typedef libtune_status (*libtune_verify_function)(void* user, libtune_results* results);
/// Receives a trial when it has been made. Its configuration, outcome, reason ("" without one) and
/// median time in nanoseconds (NaN without one) are valid during the call.
/// @returns LIBTUNE_OK; any other status ends the tuning with LIBTUNE_STOPPED, before another
///          configuration is prepared or measured
typedef libtune_status (*libtune_trial_function)(void* user,
                                                 const libtune_named_value* configuration,
                                                 size_t count, const char* outcome,
                                                 const char* reason, double time_ns);

/// The size of a launch.
typedef struct libtune_launch {
  size_t groups[3];           ///< work groups along x, y and z
  size_t extents[3];          ///< work items of a group along x, y and z
  size_t local_memory_bytes;  ///< dynamic local memory of a group
} libtune_launch;
/// Sets the size of a launch for a configuration. The answer must be the same for the same values.
/// A status other than LIBTUNE_OK fails the configuration; LIBTUNE_STOPPED ends the tuning.
typedef libtune_status (*libtune_launch_function)(void* user,
                                                  const libtune_named_value* configuration,
                                                  size_t count, libtune_launch* launch);
/// Computes a figure of a trial. Other figures are "time" (the median in nanoseconds), "samples"
/// (all times in nanoseconds) and the metrics that were added before. A status other than
/// LIBTUNE_OK makes the figure unknown, and the error's text a part of the trial's reason.
typedef libtune_status (*libtune_metric_function)(void* user,
                                                  const libtune_named_value* configuration,
                                                  size_t count, const libtune_named_value* figures,
                                                  size_t figure_count, double* value);
/// A configuration on the device, for a function that observes it.
typedef struct libtune_observed libtune_observed;
/// Observes a configuration: runs it with libtune_observed_start and libtune_observed_finish as
/// often as it likes. A status other than LIBTUNE_OK becomes a part of the trial's reason.
typedef libtune_status (*libtune_observe_function)(void* user,
                                                   const libtune_named_value* configuration,
                                                   size_t count, libtune_observed* observed);

/// The use of an array by a kernel.
typedef enum libtune_access LIBTUNE_C_ANY_INT {
  LIBTUNE_IN = 0,    ///< read
  LIBTUNE_OUT = 1,   ///< written completely
  LIBTUNE_INOUT = 2  ///< read and written, or written in part
} libtune_access;

/// Makes a tuner whose configurations a function of the caller measures (libtune_tuner_measure_by).
/// @param name  for messages and events
/// @param tuner  receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_tuner_create(const char* name, libtune_tuner** tuner);
/// Makes a tuner of a kernel.
/// @param name          the name of the kernel in the text; on CUDA also an instance of a template
/// @param source        the text: CUDA C++, OpenCL C, or the portable dialect of libtune's kernels;
///                      null if libtune_tuner_source_by makes it
/// @param problem_size  one to three expressions over the parameters, such as "4096": work items
///                      along x, y and z before the division (libtune_tuner_divide_grid)
/// @param axes          their number
/// @param tuner  receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_tuner_create_kernel(const char* name, const char* source,
                                                            const char* const* problem_size,
                                                            size_t axes, libtune_tuner** tuner);
/// Adds a parameter with its candidates: numbers, bools or texts. Whole numbers among real ones
/// become real; other mixtures of types cannot be stored as results. The last parameter added
/// varies fastest. In a kernel it is a macro with this name.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_parameter(libtune_tuner* tuner, const char* name,
                                                        const libtune_value* candidates,
                                                        size_t count);
/// Allows only configurations that fulfil an expression: "block_size_x * block_size_y <= 1024".
LIBTUNE_C_EXPORT libtune_status libtune_tuner_restrict(libtune_tuner* tuner,
                                                       const char* expression);
/// Restricts configurations by a function. It and user must stay valid as long as the tuner and all
/// objects made from it.
/// @param tuner  the tuner
/// @param function  the function
/// @param user  passed to each call
/// @param description  for messages; may be null
LIBTUNE_C_EXPORT libtune_status libtune_tuner_restrict_by(libtune_tuner* tuner,
                                                          libtune_restriction_function function,
                                                          void* user, const char* description);
/// Like libtune_tuner_restrict_by, for a function that reads these parameters only. The search asks
/// it once for each combination of their values, so large spaces are fast.
/// @param tuner  the tuner
/// @param function  the function; it receives all parameters
/// @param user  passed to each call
/// @param description  for messages; may be null
/// @param reads  the names of the parameters; not empty
/// @param count  their number
LIBTUNE_C_EXPORT libtune_status libtune_tuner_restrict_reading(
    libtune_tuner* tuner, libtune_restriction_function function, void* user,
    const char* description, const char* const* reads, size_t count);
/// Adds a figure to each trial: a formula over the parameters, "time" (ns) and other figures.
/// Tuning refuses a parameter with the name of a figure used in a formula, or of a metric.
/// @param tuner  the tuner
/// @param name  of the figure: a lower-case identifier
/// @param formula  of the figure
/// @param unit  may be null
LIBTUNE_C_EXPORT libtune_status libtune_tuner_metric(libtune_tuner* tuner, const char* name,
                                                     const char* formula, const char* unit);
/// Adds a figure to each trial that a function computes. Lifetime as for libtune_tuner_measure_by.
/// @param tuner  the tuner
/// @param name  of the figure: a lower-case identifier
/// @param unit  may be null
/// @param function  the function
/// @param user  passed to each call
LIBTUNE_C_EXPORT libtune_status libtune_tuner_metric_by(libtune_tuner* tuner, const char* name,
                                                        const char* unit,
                                                        libtune_metric_function function,
                                                        void* user);
/// Sets an option for this tuner only, like libtune_context_set_option.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_set_option(libtune_tuner* tuner, const char* name,
                                                         const char* value);
/// Stores results in the tuning database by a name, a version and a key, and looks there first.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_remember(libtune_tuner* tuner, const char* name,
                                                       int version, const libtune_named_value* key,
                                                       size_t key_count);
/// Measures by a function. It and user must stay valid until libtune_tuner_tune has returned.
/// @returns LIBTUNE_ARGUMENT_ERROR for the tuner of a kernel
LIBTUNE_C_EXPORT libtune_status libtune_tuner_measure_by(libtune_tuner* tuner,
                                                         libtune_measure_function function,
                                                         void* user);
/// Calls a function after each trial of a search. Lifetime as for libtune_tuner_measure_by.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_on_trial(libtune_tuner* tuner,
                                                       libtune_trial_function function, void* user);

/* The following are for kernels, and LIBTUNE_ARGUMENT_ERROR for other tuners. */

/// Makes the text by a function, called for each compiled configuration. Lifetime as for
/// libtune_tuner_restrict_by.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_source_by(libtune_tuner* tuner,
                                                        libtune_source_function function,
                                                        void* user);
/// Adds a text that the source includes by this name.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_header(libtune_tuner* tuner, const char* name,
                                                     const char* text);
/// Adds an option for the device's own compiler.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_flag(libtune_tuner* tuner, const char* flag);
/// Adds a macro whose text is the same for all configurations.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_define(libtune_tuner* tuner, const char* name,
                                                     const libtune_value* text);
/// Sets the names of the parameters for the extents of a work group, by default block_size_x, _y
/// and _z. Null leaves an extent at 1.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_work_group(libtune_tuner* tuner, const char* x,
                                                         const char* y, const char* z);
/// Divides the problem size along an axis (0, 1, 2) by the product of these expressions, rounded
/// up, to get the number of work groups. The default divisor is the extent of the work group.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_divide_grid(libtune_tuner* tuner, int axis,
                                                          const char* const* divisors,
                                                          size_t count);
/// Sets the size of each launch by a function, in place of the problem size, its divisors, the
/// extents of the work group and the dynamic local memory. Lifetime as for
/// libtune_tuner_restrict_by.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_launch_by(libtune_tuner* tuner,
                                                        libtune_launch_function function,
                                                        void* user);
/// Observes each right configuration once for a tuner, before it is timed. Lifetime as for
/// libtune_tuner_measure_by.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_observe_by(libtune_tuner* tuner,
                                                         libtune_observe_function function,
                                                         void* user);
/// Starts a run of an observed configuration, and returns.
LIBTUNE_C_EXPORT libtune_status libtune_observed_start(libtune_observed* observed);
/// Waits for the end of its runs.
LIBTUNE_C_EXPORT libtune_status libtune_observed_finish(libtune_observed* observed);
/// Sets the bytes of dynamic local memory for each work group: an expression.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_local_memory(libtune_tuner* tuner, const char* bytes);
/// Allows only configurations whose compiled kernels fulfil an expression: "registers <= 64".
LIBTUNE_C_EXPORT libtune_status libtune_tuner_limit(libtune_tuner* tuner, const char* expression);
/// Declares the useful work of a run, for the metrics "gflops", "gbs" and "of_peak": expressions over
/// the parameters, the names of the key, the macros, and problem_size_x, _y and _z.
/// @param tuner       the tuner
/// @param flops       operations, a multiply-add is two; null: not declared
/// @param bytes       read and written; null: not declared
/// @param arithmetic  the units that do all of the operations: "float32", "float64", "float16",
///                    "int32", "tensor_float16", "tensor_tf32" or "tensor_int8"; null: not declared
LIBTUNE_C_EXPORT libtune_status libtune_tuner_work(libtune_tuner* tuner, const char* flops,
                                                   const char* bytes, const char* arithmetic);
/// Adds an array as the next argument.
/// @param tuner  the tuner
/// @param access    the kernel's use of it
/// @param type      of the elements: "float32", "int32", "complex64" and so on (the names of numpy)
/// @param shape     the extents, the slowest axis first
/// @param rank      0 to 8
/// @param contents  in C order; copied. May be null with LIBTUNE_OUT
/// @param name      the name of the operation's slot; null: "argument_0" and so on
LIBTUNE_C_EXPORT libtune_status libtune_tuner_array(libtune_tuner* tuner, libtune_access access,
                                                    const char* type, const size_t* shape,
                                                    size_t rank, const void* contents,
                                                    const char* name);
/// Adds an array with contents on the device, which are copied for each tuning or run.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_device_array(libtune_tuner* tuner,
                                                           libtune_access access, const char* type,
                                                           const size_t* shape, size_t rank,
                                                           const libtune_buffer* contents,
                                                           const char* name);
/// Adds a number or struct of this size as the next argument; it is copied.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_scalar(libtune_tuner* tuner, const void* bytes,
                                                     size_t count);
/// Fills a __constant__ or __device__ variable of a CUDA kernel before it runs.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_constant(libtune_tuner* tuner, const char* name,
                                                       const void* bytes, size_t count);
/// Sets the expected contents of an array after a run. Call it after adding all arguments.
/// @param tuner  the tuner
/// @param argument  its index, from 0
/// @param expected  as many elements as the argument has, of its type; copied
/// @param absolute, relative  the allowed difference; both negative: as in numpy.allclose
LIBTUNE_C_EXPORT libtune_status libtune_tuner_answer(libtune_tuner* tuner, size_t argument,
                                                     const void* expected, double absolute,
                                                     double relative);
/// Takes the results of another kernel, such as a plain one, as the answers for the arrays that have
/// none, after all arguments of both have been added.
/// @param tuner      the tuner
/// @param reference  a kernel with the same arguments; it may be changed and destroyed afterwards
/// @param configuration, count  its configuration; parameters with one candidate may be omitted
/// @param absolute, relative  as for libtune_tuner_answer
LIBTUNE_C_EXPORT libtune_status libtune_tuner_reference(libtune_tuner* tuner,
                                                        const libtune_tuner* reference,
                                                        const libtune_named_value* configuration,
                                                        size_t count, double absolute,
                                                        double relative);
/// Runs each configuration also on other contents of an array, made from the given ones, and
/// compares with the results of the reference, if there is one. Call it after adding all arguments.
/// @param tuner     the tuner
/// @param argument  its index, from 0: data, rather than offsets or counts
/// @param kind      "shuffled", "uniform", "zeros", "saturated", "extremes", "subnormals" or
///                  "not_finite"
LIBTUNE_C_EXPORT libtune_status libtune_tuner_vary(libtune_tuner* tuner, size_t argument,
                                                   const char* kind);
/// Gives each right configuration the metrics "error", "error_rms", "snr" (dB) and "ulps".
LIBTUNE_C_EXPORT libtune_status libtune_tuner_report_accuracy(libtune_tuner* tuner);
/// Gives each right configuration the metric "bits": a digest of its results, equal for equal bits.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_report_bits(libtune_tuner* tuner);
/// Checks results by a function, in addition to the answers. Lifetime as for
/// libtune_tuner_measure_by.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_verify_by(libtune_tuner* tuner,
                                                        libtune_verify_function function,
                                                        void* user);
/// Compiles one configuration, runs it once on the contents of the arguments, and waits for its
/// end. Parameters with one candidate may be omitted.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_run(libtune_tuner* tuner,
                                                  const libtune_context* context,
                                                  const libtune_named_value* configuration,
                                                  size_t count, libtune_results** results);

/* For all tuners again. */

/// Tries a configuration before all others; several in the order of the calls.
/// @returns LIBTUNE_ARGUMENT_ERROR for a configuration that is not in the space
LIBTUNE_C_EXPORT libtune_status libtune_tuner_begin_with(libtune_tuner* tuner,
                                                         const libtune_named_value* configuration,
                                                         size_t count);
/// Counts the configurations that the restrictions allow.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_size(const libtune_tuner* tuner, size_t* size);
/// Lists them: a column for each parameter. Do not list more than a few million.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_space(const libtune_tuner* tuner,
                                                    libtune_table** table);
/// Finds the best configuration on a context's device: by the options, in the database or by a
/// search. Blocks. The tuner may be used again, and destroyed before its results.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_tune(libtune_tuner* tuner,
                                                   const libtune_context* context,
                                                   libtune_tuned** tuned);
/// Destroys a tuner.
LIBTUNE_C_EXPORT libtune_status libtune_tuner_destroy(libtune_tuner* tuner);

/// Gets the best configuration.
LIBTUNE_C_EXPORT libtune_status libtune_tuned_best(const libtune_tuned* tuned,
                                                   const libtune_named_value** configuration,
                                                   size_t* count);
/// Gets its median time in nanoseconds. @returns LIBTUNE_NOT_FOUND without a search
LIBTUNE_C_EXPORT libtune_status libtune_tuned_time(const libtune_tuned* tuned, double* time_ns);
/// Lists every configuration that the search tried, in order: the parameters, outcome, message,
/// score_ns, score_lower_ns, score_upper_ns, samples_ns, level, preparation_ns, elapsed_ns and the
/// metrics. Divide times from before and after an interruption of the search by level to compare
/// them; it is 1 without one. Without rows if there was no search. A parameter with the name of one
/// of these columns gets the prefix "value_".
LIBTUNE_C_EXPORT libtune_status libtune_tuned_trials(const libtune_tuned* tuned,
                                                     libtune_table** table);
/// Makes an operation of a tuned kernel. Its slots have the names of the arguments.
/// @returns LIBTUNE_ARGUMENT_ERROR for a tuner of a function
LIBTUNE_C_EXPORT libtune_status libtune_tuned_instantiate(const libtune_tuned* tuned,
                                                          const libtune_queue* queue,
                                                          libtune_operation** operation);
/// Runs a tuned kernel once on the contents of the arguments, and waits for its end.
LIBTUNE_C_EXPORT libtune_status libtune_tuned_run(const libtune_tuned* tuned,
                                                  const libtune_context* context,
                                                  libtune_results** results);
/// Destroys a tuned object.
LIBTUNE_C_EXPORT libtune_status libtune_tuned_destroy(libtune_tuned* tuned);

/// Copies the array of an argument to the host, in C order. Blocks.
/// @param results  the results
/// @param argument  its index, from 0
/// @param destination  receives the elements
/// @param bytes  of the destination: the size of the array
LIBTUNE_C_EXPORT libtune_status libtune_results_read(const libtune_results* results,
                                                     size_t argument, void* destination,
                                                     size_t bytes);
/// Destroys results. Not for the results that a callback receives.
LIBTUNE_C_EXPORT libtune_status libtune_results_destroy(libtune_results* results);

/* ---- operations ----------------------------------------------------------------------------- */

/// A built-in operation, compiled and tuned for a key: expensive to make.
typedef struct libtune_template libtune_template;

/// A place in an operation for an array.
typedef struct libtune_slot_info {
  const char* name;      ///< the name of the slot
  const char* type;      ///< the type of its elements: "float32"
  size_t element_bytes;  ///< the size of one of them
  size_t rank;           ///< the number of axes, at most 8
  size_t shape[8];       ///< the elements along each axis, the slowest first
  size_t padded[8];      ///< the elements along each axis with the padding that the slot requires
  size_t bytes;          ///< bytes of memory, padding included
  int bound;             ///< 1 if an array is bound, else 0
} libtune_slot_info;

/// Lists the operations and their parameters: operation, stage ("key": of the template; "size": of
/// an operation; "setting": of libtune_operation_set), parameter, default_value (none: required)
/// and meaning.
LIBTUNE_C_EXPORT libtune_status libtune_operation_list(libtune_table** table);
/// Makes a template, and tunes it at once if the database has no result for its key.
/// @param context  compiles and tunes it
/// @param name  "fill", "transpose", "hreduce", "maskedsum", "percentile5", "fft", "gemm"; of a
/// radio
///              telescope "unpack", "pfb", "ddc", "quantise", "correlate", "correlate_reduce",
///              "beamform", "rfi", "rfi2d"
/// @param key   values of the parameters of the stage "key"
/// @param key_count  their number
/// @param made  receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_template_create(const libtune_context* context,
                                                        const char* name,
                                                        const libtune_named_value* key,
                                                        size_t key_count, libtune_template** made);
/// Gets the values of its tuning; of a template for ranges of sizes, of the first tuning.
LIBTUNE_C_EXPORT libtune_status libtune_template_tuning(const libtune_template* made,
                                                        const libtune_named_value** values,
                                                        size_t* count);
/// Makes an operation for given sizes: values of the parameters of the stage "size". Cheap, except
/// for fft, whose library makes a plan.
LIBTUNE_C_EXPORT libtune_status libtune_template_instantiate(const libtune_template* made,
                                                             const libtune_queue* queue,
                                                             const libtune_named_value* sizes,
                                                             size_t count,
                                                             libtune_operation** operation);
/// Destroys a template. Its operations stay valid.
LIBTUNE_C_EXPORT libtune_status libtune_template_destroy(libtune_template* made);

/// Gets the number of slots.
LIBTUNE_C_EXPORT libtune_status libtune_operation_slot_count(const libtune_operation* operation,
                                                             size_t* count);
/// Gets a slot by its index. The texts are valid as long as the operation.
LIBTUNE_C_EXPORT libtune_status libtune_operation_slot(const libtune_operation* operation,
                                                       size_t place, libtune_slot_info* slot);
/// Binds memory to a slot, in C order.
/// @param operation  the operation
/// @param slot  the name of the slot
/// @param memory  the memory
/// @param padded  the extents of the array in memory, at least the extents of the slot; null: the
///                extents that the slot requires (libtune_slot_info)
/// @returns LIBTUNE_ARGUMENT_ERROR if the slot requires other padding or more memory
LIBTUNE_C_EXPORT libtune_status libtune_operation_bind(libtune_operation* operation,
                                                       const char* slot,
                                                       const libtune_buffer* memory,
                                                       const size_t* padded);
/// Gets the memory bound to a slot. @returns LIBTUNE_ARGUMENT_ERROR without any
LIBTUNE_C_EXPORT libtune_status libtune_operation_get_buffer(const libtune_operation* operation,
                                                             const char* slot,
                                                             libtune_buffer** memory);
/// Allocates and binds memory for all unbound slots.
LIBTUNE_C_EXPORT libtune_status libtune_operation_ensure_bound(libtune_operation* operation);
/// Copies elements from the host to the array of a slot: over the contents of the bound memory,
/// even a buffer of the caller, else to newly allocated memory. Blocks.
/// @param operation  the operation
/// @param slot  the name of the slot
/// @param contents  all elements, without padding
/// @param bytes     their size
LIBTUNE_C_EXPORT libtune_status libtune_operation_write(libtune_operation* operation,
                                                        const char* slot, const void* contents,
                                                        size_t bytes);
/// Copies the elements of a slot's array to the host, without padding. Blocks.
LIBTUNE_C_EXPORT libtune_status libtune_operation_read(libtune_operation* operation,
                                                       const char* slot, void* contents,
                                                       size_t bytes);
/// Changes a setting of libtune_operation_list, such as "alpha" of gemm; of a sequence those of its
/// parts, as "part:setting". "zero" of correlate, which is true, enqueues setting the accumulators
/// to 0.
LIBTUNE_C_EXPORT libtune_status libtune_operation_set(libtune_operation* operation,
                                                      const char* name, const libtune_value* value);
/// Replaces a value argument of a tuned kernel.
/// @param operation  the operation
/// @param argument  its index, from 0
/// @param bytes  the new value
/// @param count     its size, the same as before
LIBTUNE_C_EXPORT libtune_status libtune_operation_set_argument(libtune_operation* operation,
                                                               size_t argument, const void* bytes,
                                                               size_t count);
/// Enqueues the operation, and returns without waiting; allocates memory for unbound slots.
LIBTUNE_C_EXPORT libtune_status libtune_operation_run(libtune_operation* operation);
/// Destroys an operation. Its enqueued commands still run; keep its memory until they have ended.
LIBTUNE_C_EXPORT libtune_status libtune_operation_destroy(libtune_operation* operation);

/* ---- sequences ------------------------------------------------------------------------------ */

/// An operation with its name in a sequence.
typedef struct libtune_part {
  const char* name;              ///< not empty, without ':'
  libtune_operation* operation;  ///< of the sequence's queue; in no other sequence
} libtune_part;

/// Slots that share an array or memory.
typedef struct libtune_shared_slots {
  const char* name;          ///< their common name; unique in the sequence
  const char* const* slots;  ///< as "part:slot"
  size_t count;              ///< the number of slots
} libtune_shared_slots;

/// Makes a sequence of operations, which is an operation itself: it runs them one after the other.
/// Its slots are those of the parts, as "part:slot"; those that are shared have the common name
/// instead. Shared arrays get the padding that all of their slots require.
///
///     const char* scaled[] = {"gain:dest", "sum:src"};
///     libtune_part parts[] = {{"gain", gain}, {"sum", sum}};
///     libtune_shared_slots compound = {"scaled", scaled, 2};
///     libtune_sequence_create(queue, parts, 2, &compound, 1, NULL, 0, &sequence);
///
/// @param queue  the queue of every part
/// @param parts  in the order of running. The sequence shares the operations with their handles,
///               which stay valid, also for settings, and may be destroyed
/// @param part_count  their number
/// @param compounds   slots that one array is bound to: of one type and shape, and unbound
/// @param compound_count  their number
/// @param aliases     slots, or compounds by their name, in the same memory, because their contents
///                    are needed one after the other
/// @param alias_count  their number
/// @param sequence    receives the handle
/// @returns LIBTUNE_ARGUMENT_ERROR or LIBTUNE_TYPE_ERROR if the parts or slots cannot be joined;
/// the
///          parts are then unchanged
LIBTUNE_C_EXPORT libtune_status libtune_sequence_create(
    const libtune_queue* queue, const libtune_part* parts, size_t part_count,
    const libtune_shared_slots* compounds, size_t compound_count,
    const libtune_shared_slots* aliases, size_t alias_count, libtune_operation** sequence);
/// Enqueues the parts of a sequence from the first to the last that are named, and returns without
/// waiting.
LIBTUNE_C_EXPORT libtune_status libtune_sequence_run_range(libtune_operation* sequence,
                                                           const char* first, const char* last);

/* ---- captured frames ------------------------------------------------------------------------ */

/// Makes a capture, which writes frames of a running pipeline to files: operations with their sizes
/// and scalars, and the contents of their slots before and after the run. `tunedb replay` runs them
/// again.
///
///     libtune_capture_create("receiver", "/data/frames, each 1000", &capture);
///     libtune_capture_add(capture, "gain", gain, NULL, 0, NULL, 0, &point);
///     libtune_capture_prepare(capture);
///     while (running) {
///       libtune_frame* frame;
///       libtune_capture_begin(capture, &frame);
///       libtune_capture_run(capture, point, frame);
///       libtune_capture_end(capture, frame);
///     }
///
/// One thread at a time uses it, except for libtune_capture_request and libtune_capture_wait.
/// @param name      of the pipeline; in the names of the files
/// @param settings  a folder, then with commas between them: each N, over 5 ms, frames N, bytes 2
///                  GiB, memory 4 GiB, on request; null: those of LIBTUNE_CAPTURE, without which nothing is
///                  captured
/// @param capture   receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_capture_create(const char* name, const char* settings,
                                                       libtune_capture** capture);
/// Adds an operation, before libtune_capture_prepare.
/// @param capture      the capture
/// @param name         unique in the capture
/// @param operation    kept; its handle may be destroyed
/// @param unchanged    slots that a run only reads, which need no snapshot after it
/// @param unchanged_count    their number
/// @param overwritten  slots that a run overwrites as a whole, which need no snapshot before it
/// @param overwritten_count  their number
/// @param point        receives the number of the operation in the capture
LIBTUNE_C_EXPORT libtune_status libtune_capture_add(libtune_capture* capture, const char* name,
                                                    libtune_operation* operation,
                                                    const char* const* unchanged,
                                                    size_t unchanged_count,
                                                    const char* const* overwritten,
                                                    size_t overwritten_count, size_t* point);
/// Binds unbound slots, and allocates the memory for snapshots.
/// @returns LIBTUNE_ARGUMENT_ERROR if they need more memory than allowed
LIBTUNE_C_EXPORT libtune_status libtune_capture_prepare(libtune_capture* capture);
/// Begins a frame. Never waits.
/// @param capture  the capture
/// @param frame    receives its snapshot, or null if the frame is not captured
LIBTUNE_C_EXPORT libtune_status libtune_capture_begin(libtune_capture* capture,
                                                      libtune_frame** frame);
/// Enqueues an operation in a frame, and copies of its slots before and after it if the frame is
/// captured. Errors of the copies are counted.
/// @param capture  the capture
/// @param point    from libtune_capture_add
/// @param frame    may be null
LIBTUNE_C_EXPORT libtune_status libtune_capture_run(libtune_capture* capture, size_t point,
                                                    libtune_frame* frame);
/// Ends a frame, and destroys its handle, which may be null. A thread of libtune writes the file.
LIBTUNE_C_EXPORT libtune_status libtune_capture_end(libtune_capture* capture, libtune_frame* frame);
/// Requests the capture of this many of the next frames, in place of earlier requests.
LIBTUNE_C_EXPORT libtune_status libtune_capture_request(libtune_capture* capture, uint64_t frames);
/// Waits until all frames that have ended are written.
/// @param capture  the capture
/// @param seconds  the longest time
/// @param written  receives 0 if that takes longer, else 1
LIBTUNE_C_EXPORT libtune_status libtune_capture_wait(libtune_capture* capture, double seconds,
                                                     int* written);
/// Gets the counts: frames, written, in_time, skipped, failed, bytes, and the text last_failure.
/// They are valid until the next call of this function with this capture.
LIBTUNE_C_EXPORT libtune_status libtune_capture_counts(libtune_capture* capture,
                                                       const libtune_named_value** counts,
                                                       size_t* count);
/// Destroys a capture; waits up to 10 s for frames that are being written. End its frames before.
LIBTUNE_C_EXPORT libtune_status libtune_capture_destroy(libtune_capture* capture);

/* ---- metrics -------------------------------------------------------------------------------- */

/// Makes an exporter of metrics, which writes the state of libtune in this process to a file for
/// node_exporter, from a thread of its own: times of frames, the grade of each key, misses, swaps,
/// drifts, the tuner behind the program (docs/operators.md).
/// @param settings  a file whose name ends in .prom, then with commas between them: each 15 s,
///                  program NAME; null: those of LIBTUNE_METRICS_FILE, without which no file is
///                  written
/// @param metrics   receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_metrics_create(const char* settings,
                                                       libtune_metrics** metrics);
/// Gets the metrics now, in the text format of Prometheus. The text is valid until the next call of
/// this function with these metrics. Not for the pipeline's thread.
LIBTUNE_C_EXPORT libtune_status libtune_metrics_text(libtune_metrics* metrics, const char** text);
/// Writes the file now.
/// @param metrics  the metrics
/// @param written  receives 0 after a failure, which is logged, else 1
LIBTUNE_C_EXPORT libtune_status libtune_metrics_write(libtune_metrics* metrics, int* written);
/// Destroys an exporter, which writes the file once more.
LIBTUNE_C_EXPORT libtune_status libtune_metrics_destroy(libtune_metrics* metrics);
/// Makes a clock for the frames of a pipeline. Clocks of one name count together.
/// @param name      of the pipeline
/// @param deadline  longer frames are late, in s; 0: that of an earlier clock of this name, else no
///                  frame is late
/// @param clock     receives the handle
LIBTUNE_C_EXPORT libtune_status libtune_frame_clock_create(const char* name, double deadline,
                                                           libtune_frame_clock** clock);
/// Marks the begin of a frame. Takes no lock and allocates nothing; nor do the next two.
LIBTUNE_C_EXPORT libtune_status libtune_frame_clock_begin(libtune_frame_clock* clock);
/// Marks the end of the frame that has begun, and counts it.
LIBTUNE_C_EXPORT libtune_status libtune_frame_clock_end(libtune_frame_clock* clock);
/// Counts a frame that took this time, in s. Any thread.
LIBTUNE_C_EXPORT libtune_status libtune_frame_clock_record(libtune_frame_clock* clock,
                                                           double seconds);
/// Destroys a clock. Its frames stay in the metrics.
LIBTUNE_C_EXPORT libtune_status libtune_frame_clock_destroy(libtune_frame_clock* clock);

/// Makes later searches of the built-in operations run in a helper process, libtune-tuner, so that
/// a kernel that crashes or hangs does no harm. Kernels and functions of the caller are still
/// measured in this process.
LIBTUNE_C_EXPORT libtune_status libtune_tune_in_children(void);

#ifdef __cplusplus
}
#endif

#endif /* LIBTUNE_C_API_LIBTUNE_H */
