// Brackets of both kinds: what is read are trees, what is written is read again, and reading in pieces gives
// the same as reading at once.
#include "brackets.hpp"

#include <cstdint>

#include "fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace treemean;
  if (size == 0) return 0;
  // The first byte chooses, so that the search can.
  const bool keep_wrapper = (data[0] & 4) != 0;
  const BracketDialect dialect{.discontinuous = (data[0] & 1) != 0,
                               .leaves = static_cast<Leaves>(data[0] >> 3 & 3),
                               .helsinki = (data[0] & 32) != 0,
                               .keep_empty = (data[0] & 64) != 0,
                               .keep_lemmas = (data[0] & 128) != 0};
  const ReadOptions options{.final = true, .skip = (data[0] & 2) != 0, .keep_wrapper = keep_wrapper};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const BracketResult whole = read_brackets(text, dialect, options);
  fuzzing::check_result(whole, text.size());

  // Whatever begins a text is left alone, or read as it is read in the whole.
  const BracketResult begun =
      read_brackets(text.substr(0, text.size() / 2), dialect,
                    {.final = false, .skip = options.skip, .keep_wrapper = keep_wrapper});
  fuzzing::check_result(begun, text.size() / 2);
  fuzzing::check(begun.columns.sentences() <= whole.columns.sentences());
  return 0;
}
