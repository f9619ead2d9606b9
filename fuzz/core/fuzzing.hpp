// What every target of the core checks.
#pragma once

#include <cstdlib>
#include <string>

#include "bracket_writer.hpp"
#include "brackets.hpp"
#include "columns.hpp"
#include "validity.hpp"

namespace treemean::fuzzing {

// Ends the process, which the fuzzer reports together with the input.
inline void check(bool holds) {
  if (!holds) std::abort();
}

inline TreeColumns trees_of(const Columns& columns) {
  return {columns.word_offsets, columns.constituent_offsets, columns.bits};
}

inline CodedView view(const CodedStrings& strings) {
  return {strings.codes, strings.vocabulary.data, strings.vocabulary.offsets};
}

inline void check_result(const ReadResult& result, std::size_t size) {
  check(result.consumed <= size);
  for (const Problem& problem : result.problems)
    check(problem.begin <= problem.end && problem.end <= size && problem.line >= 1);
  const Columns& columns = result.columns;
  check(!find_invalid(trees_of(columns)));
  const CodedView words = view(columns.words), tags = view(columns.tags), labels = view(columns.labels);
  write_brackets({trees_of(columns), words, tags, labels}, true);
}

}  // namespace treemean::fuzzing
