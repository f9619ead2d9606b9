// Columns from outside: they are refused, or written as brackets that are read as the same columns.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "fuzzing.hpp"

namespace {

// Takes so many numbers of some kind from the beginning of the data; fewer if there are no more.
template <class Number>
std::vector<Number> taken(std::string_view& data, std::size_t count) {
  std::vector<Number> numbers(std::min(count, data.size() / sizeof(Number)));
  const std::size_t bytes = numbers.size() * sizeof(Number);
  std::copy_n(data.begin(), bytes, reinterpret_cast<char*>(numbers.data()));
  data.remove_prefix(bytes);
  return numbers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace treemean;
  if (size < 2) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::vector<std::int64_t> word_offsets = taken<std::int64_t>(rest, data[0] % 8);
  const std::vector<std::int64_t> constituent_offsets = taken<std::int64_t>(rest, data[1] % 8);
  const std::vector<std::uint64_t> bits = taken<std::uint64_t>(rest, rest.size());
  const TreeColumns trees{word_offsets, constituent_offsets, bits};
  if (find_invalid(trees) || word_offsets.back() > 1 << 16 || constituent_offsets.back() > 1 << 16) return 0;
  const auto constant = [](std::int64_t count) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(count));
  };
  const std::vector<std::uint8_t> text{'x'};
  const std::vector<std::int64_t> offsets{0, 1};
  const std::vector<std::int32_t> words = constant(word_offsets.back()),
                                  labels = constant(constituent_offsets.back());
  const CodedView of_words{words, text, offsets}, of_labels{labels, text, offsets};
  const std::string written = write_brackets({trees, of_words, of_words, of_labels}, true);
  const BracketResult read = read_brackets(written, {.discontinuous = true}, {});
  // Sentences without words have no brackets.
  if (word_offsets.size() == 2 && word_offsets.back() > 0 && word_offsets.back() < 1 << 10) {
    fuzzing::check(read.problems.empty());
    fuzzing::check(read.columns.bits == bits);
  }
  return 0;
}
