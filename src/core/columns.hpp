// A treebank in columns, as docs/data-model.md describes it, and how sentences are added to it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace treemean {

// Texts one after the other; text i is data[offsets[i] .. offsets[i + 1]).
struct Strings {
  std::vector<std::uint8_t> data;
  std::vector<std::int64_t> offsets{0};

  void push(std::string_view text);
};

// Texts that repeat, as codes into a vocabulary in order of first appearance.
class CodedStrings {
 public:
  std::vector<std::int32_t> codes;
  Strings vocabulary;

  void push(std::string_view text);
  // The same vocabulary without codes.
  CodedStrings without_codes() const;

 private:
  std::string_view at(std::int32_t code) const;
  std::int32_t find_or_add(std::string_view text);
  void grow();

  // Open addressing. A slot has the hash beside the code, so that growing and most misses read no text.
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t code = free;

    static constexpr std::int32_t free = -1;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(64);
};

// No real sentence is larger; a small file must not ask for unbounded memory. Cells are words times nodes.
// The same limits stand in treemean/formats/limits.py for the readers in Python.
inline constexpr std::size_t max_words = 1 << 17;
inline constexpr std::size_t max_nodes = 1 << 17;
inline constexpr std::size_t max_depth = 1 << 15;
inline constexpr std::size_t max_cells = 1 << 28;
// Lines, elements and attributes, or brackets and commas, by which one sentence is told.
inline constexpr std::size_t max_pieces = 1 << 21;

// What one call of a reader gives at most, give or take a sentence: 64 MiB of sets, and so many sentences.
inline constexpr std::size_t batch_bits = 1 << 23;
inline constexpr std::size_t batch_sentences = 1 << 17;

inline constexpr int no_parent = -1;  // the parent of what hangs under no node

struct Word {
  std::string_view text, tag, function;
  int parent = no_parent;
};

struct Node {
  std::string_view label, function;
  int parent = no_parent;  // always a node with a smaller index
};

// One sentence while it is being read. Texts point into the input, or into `owned` where they were changed.
struct Sentence {
  std::vector<Word> words;
  std::vector<Node> nodes;
  std::string_view id, comment;
  std::string_view metadata;  // a JSON object, or nothing
  std::deque<std::string> owned;

  void clear();

  // Whether what was read so far is within the limits, with `depth` brackets or elements open: one may be a
  // wrapper, and one a tag.
  bool is_within_limits(std::size_t depth) const {
    return words.size() <= max_words && nodes.size() <= max_nodes && depth <= max_depth + 2;
  }

  // Why the sentence is larger than a treebank takes, or nothing; `depth` as above.
  std::string too_large(std::size_t depth = 0) const;
  std::string_view own(std::string text);
};

struct Columns {
  Strings ids, comments, metadata;
  std::vector<std::int64_t> word_offsets{0}, constituent_offsets{0};
  CodedStrings words, tags, word_functions, labels, functions;
  std::vector<std::uint64_t> bits;

  std::size_t sentences() const { return word_offsets.size() - 1; }

  // Enough for one batch: what follows is left for the next one.
  bool full() const { return bits.size() >= batch_bits || sentences() >= batch_sentences; }

  // Adds a sentence. Nodes without words are left out; a root labelled `root_label` is added if no node
  // spans all words. Constituents are put in canonical order. O(nodes * words / 64).
  void add(const Sentence& sentence, std::string_view root_label);

  // Ends a sentence whose constituents were added: adds its words and its texts.
  void add_words(const Sentence& sentence);

 private:
  std::vector<std::uint64_t> masks_;  // scratch
  std::vector<int> order_, first_, size_;
};

// The vocabularies of columns that are read one after the other. Each begins with that of the one before, so
// that they can be put together without comparing texts; large ones are given up.
class Vocabularies {
 public:
  // Gives columns that have no sentence yet what was known before.
  void lend_to(Columns& columns);
  // Takes note of what is known now.
  void learn_from(const Columns& columns);

 private:
  CodedStrings words_, tags_, word_functions_, labels_, functions_;
};

// A record that could not be read.
struct Problem {
  std::string message;
  std::int64_t line = 0;           // 1-based, in the text that was given
  std::size_t begin = 0, end = 0;  // the record's bytes
  std::size_t sentence = 0;        // its number among all records of the text, from 0
};

// How a reader takes a piece of text.
struct ReadOptions {
  bool final = true;  // what remains at the end must be complete; otherwise it is left for the next call
  bool skip = false;  // reading goes on behind a bad record
  bool keep_wrapper = false;      // brackets without label around a tree are a node of it
  Vocabularies* known = nullptr;  // those of the pieces of the same file, if they are to begin alike
};

// What a reader made of a piece of text.
struct ReadResult {
  Columns columns;
  std::size_t consumed = 0;  // bytes that need not be given again
  std::int64_t lines = 0;    // line breaks among them
  std::vector<Problem> problems;
  bool fatal = false;  // the last problem lies outside the sentences: the file cannot be read on
  int opened = 0;      // elements opened and not closed outside the sentences (XML)
};

// Tells on which line a place of a text lies, counting only from where it was last asked.
class LineCounter {
 public:
  explicit LineCounter(std::string_view text) : text_(text) {}

  // The number of line breaks before `place`.
  std::int64_t before(std::size_t place) {
    const auto from = text_.begin() + std::min(place, at_), to = text_.begin() + std::max(place, at_);
    lines_ += (place < at_ ? -1 : 1) * std::count(from, to, '\n');
    at_ = place;
    return lines_;
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::int64_t lines_ = 0;
};

bool is_valid_utf8(std::string_view text);

}  // namespace treemean
