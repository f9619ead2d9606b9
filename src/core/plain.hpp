// Readers that take what is plain and leave the rest. A record that is odd in any way, wrong or just rare, is
// handed back as it stands to the reader in Python, which knows every case and words every error; so there is
// one place that says what a format means, and the core only has to be right about what it takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "columns.hpp"

namespace treemean {

// A record that is left to Python.
struct OddRecord {
  std::size_t begin = 0, end = 0;  // its bytes, without the line break at its end
  std::int64_t line = 0;           // line breaks before it
  std::size_t before = 0;          // sentences of the columns before it
  int state = 0;                   // what the reader had to remember where it stands
};

// A column of numbers, each as it stands in the text, or empty where there is none.
struct NumberColumn {
  std::string name;
  CodedStrings tokens;
};

struct PlainResult {
  Columns columns;
  std::size_t consumed = 0;  // bytes that need not be given again
  std::int64_t lines = 0;    // line breaks among them
  std::vector<OddRecord> odd;
  // What the reader has to be told with the next piece: of export the version, of TIGER XML how many <s> are
  // open, -1 where it takes no more sentences.
  int state = 0;
  std::vector<NumberColumn> sentence_values, constituent_values;  // of JSON Lines

  // Whether the batch should end here: sets of 8 MiB, since odd records may add as much again, or so many
  // sentences as any batch has at most.
  bool full() const { return columns.bits.size() > std::size_t{1} << 20 || columns.full(); }
};

// Whether a record has more of some signs, each of which begins something that takes memory, than a sentence
// may have. Python then says so. O(1) for records of common lengths.
bool has_too_many_pieces(std::string_view record, std::string_view signs);

// Texts as the readers in Python take them apart.

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// What Python's `strip` takes for white space, as far as it is ASCII.
inline bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'); }

inline std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

inline std::string_view without_white(std::string_view text) {
  while (!text.empty() && is_white(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_white(text.back())) text.remove_suffix(1);
  return text;
}

// A text, or nothing where a sign stands for nothing.
inline std::string_view filled(std::string_view text, std::string_view sign) {
  return text == sign ? std::string_view{} : text;
}

// Whether Python's `strip` would take more from a text in UTF-8, since it also knows the blanks of Unicode.
bool has_wide_blank_at_an_end(std::string_view text);

// A line without its line break and without a carriage return before that; where it begins, where the break
// stands, and where the next one begins.
struct Line {
  std::string_view text;
  std::size_t begin = 0, end = 0, next = 0;
};

// Goes through the lines of a text. A line without a line break counts only if the text is `final`.
class Lines {
 public:
  Lines(std::string_view text, bool final) : text_(text), final_(final) {}

  // Moves to the next line; false if there is none, or none that is complete.
  bool next() {
    if (at_ == text_.size()) return false;
    std::size_t end = text_.find('\n', at_);
    const bool broken = end != std::string_view::npos;
    if (!broken && !final_) return false;
    if (!broken) end = text_.size();
    line_ = {text_.substr(at_, end - at_), at_, end, end + broken};
    if (line_.text.ends_with('\r')) line_.text.remove_suffix(1);
    at_ = line_.next;
    breaks_ += seen_;
    seen_ = broken;
    return true;
  }

  const Line& line() const { return line_; }
  std::int64_t breaks_before() const { return breaks_; }         // the current line
  std::int64_t breaks_after() const { return breaks_ + seen_; }  // up to the end of the current line

 private:
  std::string_view text_;
  bool final_;
  std::size_t at_ = 0;
  Line line_;
  std::int64_t breaks_ = 0;
  bool seen_ = false;
};

// A whole number without sign of at most nine ASCII digits, or -1.
inline std::int64_t small_number(std::string_view text) {
  if (text.empty() || text.size() > 9) return -1;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return value;
}

// Puts the nodes of a sentence, which may stand in any order, so that parents come before their children.
class ParentsFirst {
 public:
  // False if a node is above itself, or has no words, or stands in too many others; the sentence is of no use
  // then. O(words + nodes).
  bool arrange(Sentence& sentence);

 private:
  bool is_too_deep(const Sentence& sentence);

  std::vector<int> pending_, order_, index_of_;
  std::vector<std::size_t> depths_;
  std::vector<char> holds_words_;
  std::vector<Node> nodes_;
};

}  // namespace treemean
