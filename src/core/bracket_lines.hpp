// Where trees begin and end among the lines of a file of brackets.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "dialects.hpp"

namespace treemean {

class BracketLines {
 public:
  explicit BracketLines(std::string_view text) : text_(text) {}

  // Moves over white space; returns where the line begins on which the next thing stands, or `at` if that
  // follows on the same line.
  std::size_t skip_space(std::size_t& at) const;

  bool begins_line(std::size_t at) const { return at == 0 || text_[at - 1] == '\n'; }

  // How far a place is from the beginning of its line, if there are only blanks between, else 0.
  std::size_t indentation(std::size_t at) const;

  // The end of a label or a leaf.
  std::size_t atom_end(std::size_t at) const {
    while (at < text_.size() && !is_space(text_[at]) && text_[at] != '(' && text_[at] != ')') ++at;
    return at;
  }

  // The rest of the line.
  std::string_view line_from(std::size_t at) const;

  // The beginning of the next line on which a comment begins, or a tree as far from the left as `indent`;
  // npos if there is none. If a tree has lines that begin as it does (`spans_lines`), what follows the whole
  // tree.
  std::size_t next_record(std::size_t at, std::size_t indent, bool spans_lines) const;

  // Where `depth` open brackets are closed, looking no further than some ten thousand bytes and the next
  // empty line; npos if they are not. Throws Incomplete if the text ends before that, and is not `final`.
  std::size_t balanced_end(std::size_t at, std::size_t depth, bool final) const;

 private:
  std::string_view text_;
};

// The id that a comment tells of the tree that follows: `# sent_id = 12`, or `#12 CP2-7 The text`.
std::string_view id_in_comment(std::string_view comment);

// A text for a message.
std::string shown(std::string_view text);

}  // namespace treemean
