#include "bracket_lines.hpp"

#include <algorithm>

#include "plain.hpp"
#include "read_error.hpp"

namespace treemean {
namespace {

constexpr std::size_t npos = std::string_view::npos;
// How far to look for the end of a tree that seems to go on where another one may begin.
constexpr std::size_t lookahead = 1 << 16;

}  // namespace

std::size_t BracketLines::skip_space(std::size_t& at) const {
  std::size_t line = at;
  for (; at < text_.size() && is_space(text_[at]); ++at) {
    if (text_[at] == '\n') line = at + 1;
  }
  return line;
}

std::size_t BracketLines::indentation(std::size_t at) const {
  std::size_t begin = at;
  while (begin > 0 && is_blank(text_[begin - 1])) --begin;
  return begins_line(begin) ? at - begin : 0;
}

std::string_view BracketLines::line_from(std::size_t at) const {
  return text_.substr(at, std::min(text_.find('\n', at), text_.size()) - at);
}

std::size_t BracketLines::next_record(std::size_t at, std::size_t indent, bool spans_lines) const {
  if (spans_lines) {
    const std::size_t end = balanced_end(at, 0, true);
    if (end != npos) return text_.find('\n', end);
  }
  for (std::size_t end = text_.find('\n', at); end != npos; end = text_.find('\n', end)) {
    std::size_t next = ++end;
    while (next < text_.size() && is_blank(text_[next])) ++next;
    if (next == text_.size()) return npos;
    if (text_[next] == '(' && next - end == indent) return end;
    if (text_[next] == '#' && next == end) return end;
  }
  return npos;
}

std::size_t BracketLines::balanced_end(std::size_t at, std::size_t depth, bool final) const {
  const std::size_t end = std::min(text_.size(), at + lookahead);
  for (bool empty_line = false; at < end; ++at) {
    const char c = text_[at];
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) return at + 1;
    if (c == '\n' && empty_line) return npos;
    if (!is_space(c) || c == '\n') empty_line = c == '\n';
  }
  if (end == text_.size() && !final) throw Incomplete{};
  return npos;
}

std::string_view id_in_comment(std::string_view comment) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::string_view line = comment.substr(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  if (constexpr std::string_view sent_id = " sent_id = "; line.starts_with(sent_id))
    return line.substr(sent_id.size());
  // The second word after a number, if it is a name with digits.
  const std::size_t blank = line.find(' ');
  if (blank == 0 || blank == npos || !std::ranges::all_of(line.substr(0, blank), digit)) return {};
  const std::string_view name = line.substr(blank + 1, line.find(' ', blank + 1) - blank - 1);
  return std::ranges::any_of(name, digit) ? name : std::string_view{};
}

std::string shown(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

}  // namespace treemean
