// Columns as Python takes them: tuples and dictionaries of NumPy arrays.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

#include "columns.hpp"
#include "numpy.hpp"

namespace treemean {

inline nanobind::tuple to_python(Strings&& strings) {
  return nanobind::make_tuple(to_numpy(std::move(strings.data)), to_numpy(std::move(strings.offsets)));
}

inline nanobind::tuple to_python(CodedStrings&& strings) {
  return nanobind::make_tuple(to_numpy(std::move(strings.codes)), to_python(std::move(strings.vocabulary)));
}

inline nanobind::dict to_python(Columns&& columns) {
  nanobind::dict result;
  result["ids"] = to_python(std::move(columns.ids));
  result["metadata"] = to_python(std::move(columns.metadata));
  result["comments"] = to_python(std::move(columns.comments));
  result["word_offsets"] = to_numpy(std::move(columns.word_offsets));
  result["words"] = to_python(std::move(columns.words));
  result["tags"] = to_python(std::move(columns.tags));
  result["word_functions"] = to_python(std::move(columns.word_functions));
  result["constituent_offsets"] = to_numpy(std::move(columns.constituent_offsets));
  result["labels"] = to_python(std::move(columns.labels));
  result["functions"] = to_python(std::move(columns.functions));
  result["bits"] = to_numpy(std::move(columns.bits));
  return result;
}

}  // namespace treemean
