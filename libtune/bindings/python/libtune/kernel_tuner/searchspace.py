# SPDX-FileCopyrightText: The libtune authors
# SPDX-License-Identifier: BSD-3-Clause
"""All configurations of a space, as a list."""

from __future__ import annotations

import random
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy

from .. import _libtune
from .geometry import default_block_size_names
from .parameters import Parameters
from .restrictions import Restriction, add_restrictions, read_restrictions

Configuration = Tuple[Any, ...]

_METHODS = ("Hamming", "Hamming-adjacent", "adjacent", "strictly-adjacent", "closest-param-indices")


class _Tuner:
    """The native tuner of a space alone."""

    def __init__(self) -> None:
        self._core = _libtune.Tuner("searchspace")

    def parameter(self, name: str, candidates: Sequence[Any]) -> None:
        self._core.parameter(name, list(candidates))

    def restrict(self, text: str) -> None:
        self._core.restrict(text)


class Searchspace:
    """The configurations that restrictions allow, and work groups of at most max_threads items.

    Iterating, len() and the list have the order of the candidates, the last parameter fastest.
    """

    def __init__(
        self,
        tune_params: Mapping[str, Sequence[Any]],
        restrictions: Any,
        max_threads: int,
        block_size_names: Sequence[str] = tuple(default_block_size_names),
        neighbor_method: Optional[str] = None,
        **_: Any,
    ) -> None:
        self.tune_params = {name: list(values) for name, values in tune_params.items()}
        self.restrictions = restrictions
        self.param_names = list(tune_params)
        self.num_params = len(self.param_names)
        self.neighbor_method = neighbor_method
        read = read_restrictions(restrictions, self.param_names)
        extents = [name for name in block_size_names if name in tune_params]
        if extents:
            text = " * ".join(extents) + f" <= {max_threads}"
            read.append(Restriction(lambda p: numpy.prod([p[name] for name in extents]) <= max_threads, extents, text, True))
        self.list = self._enumerate(read)
        self.size = len(self.list)
        self._places = {configuration: place for place, configuration in enumerate(self.list)}
        self._neighbours: Dict[Tuple[Any, Optional[str]], List[int]] = {}

    def _enumerate(self, restrictions: Sequence[Restriction]) -> List[Configuration]:
        parameters = Parameters(self.tune_params)
        tuner = _Tuner()
        parameters.add_to(tuner)
        add_restrictions(restrictions, parameters, tuner)
        columns = tuner._core.space()
        values = [list(map(each.of_native, columns[each.native_name])) for each in parameters.all]
        return list(zip(*values))

    def __len__(self) -> int:
        return self.size

    def __iter__(self) -> Any:
        return iter(self.list)

    def get_list_dict(self) -> Dict[Configuration, int]:
        """The place of each configuration."""
        return self._places

    def is_param_config_valid(self, param_config: Sequence[Any]) -> bool:
        """True for a configuration of the space."""
        return tuple(param_config) in self._places

    def get_param_config_index(self, param_config: Sequence[Any]) -> Optional[int]:
        """The place of a configuration; None if it is not in the space."""
        return self._places.get(tuple(param_config))

    def get_param_indices(self, param_config: Sequence[Any]) -> Tuple[int, ...]:
        """The places of its values among the candidates."""
        return tuple(self.tune_params[name].index(value) for name, value in zip(self.param_names, param_config))

    def get_param_config_from_param_indices(self, param_indices: Sequence[int]) -> Configuration:
        """The values at these places."""
        return tuple(values[place] for values, place in zip(self.tune_params.values(), param_indices))

    def get_param_configs_at_indices(self, indices: Sequence[int]) -> List[Configuration]:
        """The configurations at these places of the list."""
        return [self.list[place] for place in indices]

    @property
    def tune_param_is_numeric_mask(self) -> List[bool]:
        """For each parameter, whether all of its values are numbers."""
        return [
            all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)
            for values in self.tune_params.values()
        ]

    def get_list_numpy_numeric(self) -> Any:
        """A row of numbers for each configuration: places stand for values that are none."""
        mask = self.tune_param_is_numeric_mask
        columns = [
            [each[i] for each in self.list] if mask[i] else self._indices()[:, i] for i in range(self.num_params)
        ]
        return numpy.array(columns, dtype=float).T

    def get_param_config_from_numeric(self, param_config: Sequence[Any]) -> Configuration:
        """The configuration of such a row."""
        numeric = zip(param_config, self.tune_param_is_numeric_mask, self.tune_params.values())
        return tuple(values[values.index(x)] if is_number else values[int(x)] for x, is_number, values in numeric)

    def get_param_indices_lower_bounds(self) -> Any:
        """The least place of each parameter in the space."""
        return self._indices().min(axis=0)

    def get_param_indices_upper_bounds(self) -> Any:
        """The greatest place of each parameter in the space."""
        return self._indices().max(axis=0)

    def get_true_tunable_params(self) -> Dict[str, List[Any]]:
        """The parameters that have several values in the space."""
        used = [set(values) for values in zip(*self.list)]
        return {name: self.tune_params[name] for name, values in zip(self.param_names, used) if len(values) > 1}

    def sorted_list(self, sort_last_param_first: bool = False) -> List[Configuration]:
        """The configurations by their values; of the last parameter first, if that is wanted."""
        return sorted(self.list, key=lambda each: each[::-1] if sort_last_param_first else each)

    def get_random_sample_indices(self, num_samples: int) -> Any:
        """The places of so many different configurations."""
        if num_samples > self.size:
            raise ValueError(f"the number of samples requested ({num_samples}) is greater than the searchspace size ({self.size})")
        return numpy.array(random.sample(range(self.size), num_samples), dtype=int)

    def get_random_sample(self, num_samples: int) -> List[Configuration]:
        """So many different configurations, or all of them."""
        return [self.list[place] for place in self.get_random_sample_indices(min(num_samples, self.size))]

    def get_distributed_random_sample_indices(self, num_samples: int, sampling_factor: int = 10) -> List[int]:
        """So many places that lie far from each other, of sampling_factor times as many random ones."""
        left = list(self.get_random_sample_indices(min(self.size, num_samples * sampling_factor)))
        scaled = self._scaled()
        chosen = [left.pop()]
        nearest = numpy.full(self.size, numpy.inf)
        while left and len(chosen) < num_samples:
            nearest = numpy.minimum(nearest, abs(scaled - scaled[chosen[-1]]).sum(axis=1))
            chosen.append(left.pop(int(numpy.argmax(nearest[left]))))
        return [int(place) for place in chosen]

    def get_distributed_random_sample(self, num_samples: int, sampling_factor: int = 10) -> List[Configuration]:
        """The configurations at such places."""
        return self.get_param_configs_at_indices(self.get_distributed_random_sample_indices(num_samples, sampling_factor))

    def get_LHS_sample_indices(self, num_samples: int) -> List[int]:
        """The places nearest to a Latin hypercube: each parameter is divided evenly among them."""
        num_samples = min(num_samples, self.size)
        strata = [random.sample(range(num_samples), num_samples) for _ in self.param_names]
        points = (numpy.array(strata).T + 0.5) / num_samples
        scaled, free = self._scaled(), numpy.ones(self.size, dtype=bool)
        chosen = []
        for point in points:
            distances = numpy.where(free, abs(scaled - point).sum(axis=1), numpy.inf)
            chosen.append(int(numpy.argmin(distances)))
            free[chosen[-1]] = False
        return chosen

    def get_LHS_sample(self, num_samples: int) -> List[Configuration]:
        """The configurations at such places."""
        return self.get_param_configs_at_indices(self.get_LHS_sample_indices(num_samples))

    def _scaled(self) -> Any:
        """The places of all values, from 0 to 1."""
        return self._indices() / numpy.maximum(1, [len(values) - 1 for values in self.tune_params.values()])

    def are_neighbors_indices_cached(self, param_config: Sequence[Any], neighbor_method: Optional[str] = None) -> bool:
        """True if get_neighbors has found them before."""
        return (tuple(param_config), neighbor_method or self.neighbor_method) in self._neighbours

    def get_neighbors(self, param_config: Sequence[Any], neighbor_method: Optional[str] = None) -> List[Configuration]:
        """The configurations beside one, which need not be in the space: "Hamming" differ in one parameter, "adjacent" have
        in each the same or the next value that is in the space, "strictly-adjacent" the same or the next candidate,
        "Hamming-adjacent" are both of the first two, and "closest-param-indices" have the least sum of steps."""
        key = (tuple(param_config), neighbor_method or self.neighbor_method)
        if key not in self._neighbours:
            self._neighbours[key] = [self._places[each] for each in self.get_neighbors_no_cache(*key)]
        return [self.list[place] for place in self._neighbours[key]]

    def get_random_neighbor(self, param_config: Sequence[Any], neighbor_method: Optional[str] = None) -> Optional[Configuration]:
        """One of them, or None."""
        found = self.get_neighbors(param_config, neighbor_method)
        return random.choice(found) if found else None

    def get_neighbors_no_cache(self, param_config: Sequence[Any], neighbor_method: Optional[str] = None) -> List[Configuration]:
        """As get_neighbors."""
        method = neighbor_method or self.neighbor_method
        if method not in _METHODS:
            raise NotImplementedError(f"the neighbour method is {method!r}, and there are {', '.join(_METHODS)}")
        own = numpy.array(self.get_param_indices(param_config))
        all_places = self._indices()
        differs = (all_places != own).sum(axis=1)
        if method == "Hamming":
            chosen = differs == 1
        elif method == "strictly-adjacent":
            chosen = abs(all_places - own).max(axis=1) == 1
        elif method == "closest-param-indices":
            steps = abs(all_places - own).sum(axis=1)
            chosen = steps == min(steps[steps > 0], default=0)
        else:
            chosen = (differs > 0) & self._within_next(all_places, own)
            chosen &= (differs == 1) if method == "Hamming-adjacent" else True
        return [self.list[place] for place in numpy.flatnonzero(chosen)]

    def get_param_neighbors(
        self, param_config: Sequence[Any], index: int, neighbor_method: Optional[str] = None, randomize: bool = True
    ) -> List[Any]:
        """The other values that a parameter has in the neighbours of a configuration."""
        found = dict.fromkeys(each[index] for each in self.get_neighbors(param_config, neighbor_method))
        values = [value for value in found if value != tuple(param_config)[index]]
        return random.sample(values, len(values)) if randomize else values

    def order_param_configs(
        self, param_configs: Sequence[Configuration], order: Sequence[int], randomize_in_params: bool = True
    ) -> List[Configuration]:
        """Any of the configurations, then those that differ from it in the first parameter of the order, and so on."""
        if len(order) != self.num_params:
            raise ValueError(f"the order has {len(order)} indices, which must be equal to the number of parameters ({self.num_params})")
        for index in range(self.num_params):
            if index not in order:
                raise ValueError(f"order needs to be a list of the parameter indices, but index {index} is missing")
        left = list(param_configs)
        made = [left.pop(random.randrange(len(left)) if randomize_in_params else 0)]
        for index in order:
            next_ones = [each for each in left if each[index] != made[0][index]]
            left = [each for each in left if each not in next_ones]
            made += random.sample(next_ones, len(next_ones)) if randomize_in_params else next_ones
        return made + left

    def _indices(self) -> Any:
        if not hasattr(self, "_index_array"):
            tables = [{value: place for place, value in enumerate(values)} for values in self.tune_params.values()]
            rows = [[table[value] for table, value in zip(tables, each)] for each in self.list]
            self._index_array = numpy.array(rows, dtype=int).reshape(self.size, len(tables))
        return self._index_array

    def _within_next(self, all_places: Any, own: Any) -> Any:
        """The nearest places above and below of each parameter that the space uses bound the neighbours."""
        low, high = [], []
        for column, place in zip(all_places.T, own):
            below, above = column[column < place], column[column > place]
            low.append(below.max() if below.size else place)
            high.append(above.min() if above.size else place)
        return ((all_places >= low) & (all_places <= high)).all(axis=1)
