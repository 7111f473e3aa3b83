// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <SQLiteCpp/Database.h>
#include <string>

#include "tests/store/temporary_folder.hpp"

namespace tune::testing {

/// A database as version 1 of the tables left it, with one result and one search of
/// sample_function, word for word: this never changes.
inline std::string create_version_1(const temporary_folder& folder) {
  const std::string path = folder.file("version_1.db");
  SQLite::Database made(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  made.exec(R"sql(
BEGIN;
PRAGMA application_id = 1819571566;
PRAGMA user_version = 1;
CREATE TABLE libtune_function (
  table_name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY,
  name TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 0),
  columns TEXT NOT NULL  -- one "<column> <type>[ optional]" a line
) STRICT, WITHOUT ROWID;

CREATE TABLE libtune_search (
  id INTEGER PRIMARY KEY,
  table_name TEXT NOT NULL REFERENCES libtune_function (table_name),
  arguments TEXT NOT NULL,  -- for people
  arguments_canonical TEXT NOT NULL,
  device_name TEXT NOT NULL,
  device_platform TEXT NOT NULL,
  device_version TEXT NOT NULL,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  result TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX libtune_search_by_key ON libtune_search
  (table_name, arguments_canonical, device_name, device_platform, device_version);

CREATE TABLE libtune_trial (
  search_id INTEGER NOT NULL REFERENCES libtune_search (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  configuration TEXT NOT NULL,  -- for people; libtune_trial_value has it exactly
  outcome TEXT NOT NULL,
  message TEXT NOT NULL,
  score_ns REAL CHECK (score_ns > 0 AND score_ns < 9e999),
  samples_ns TEXT NOT NULL,  -- a JSON array
  preparation_ns INTEGER NOT NULL,
  PRIMARY KEY (search_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE libtune_trial_value (
  search_id INTEGER NOT NULL,
  position INTEGER NOT NULL,
  field INTEGER NOT NULL,  -- the order of the fields
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  value ANY,
  PRIMARY KEY (search_id, position, field),
  FOREIGN KEY (search_id, position) REFERENCES libtune_trial (search_id, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE "multiply_template.autotune__0" (
  "arg_rows" INTEGER NOT NULL,
  "arg_type" TEXT NOT NULL,
  "device_name" TEXT NOT NULL,
  "device_platform" TEXT NOT NULL,
  "device_version" TEXT NOT NULL,
  "value_wgs" INTEGER NOT NULL,
  "score_ns" REAL CHECK ("score_ns" > 0 AND "score_ns" < 9e999),
  "tuned_at" TEXT NOT NULL,
  PRIMARY KEY ("arg_rows", "arg_type", "device_name", "device_platform", "device_version")
) STRICT, WITHOUT ROWID;

INSERT INTO libtune_function VALUES ('multiply_template.autotune__0',
  'multiply_template.autotune', 0, 'arg_rows int32
arg_type dtype
value_wgs int32
');
INSERT INTO "multiply_template.autotune__0" VALUES (64, 'float32', 'GPU One', 'Some Platform',
  '535.104', 128, 1500.0, '2024-01-31T12:00:00Z');
INSERT INTO libtune_search VALUES (1, 'multiply_template.autotune__0', 'rows=64, type=float32',
  '4:rows=i64;4:type=s7:float32;', 'GPU One', 'Some Platform', '535.104',
  '2024-01-31T11:59:00Z', '2024-01-31T12:00:00Z', 'found');
INSERT INTO libtune_trial VALUES (1, 0, 'wgs=128', 'measured', '', 1500.0, '[1499.5,1500.5]', 7);
INSERT INTO libtune_trial_value VALUES (1, 0, 0, 'wgs', 'signed', 128);
COMMIT;
)sql");
  return path;
}

}  // namespace tune::testing
