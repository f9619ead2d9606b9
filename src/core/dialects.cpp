#include "dialects.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "columns.hpp"

namespace treemean {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, lower, lower);
}

// The parts of *NAME*-INDEX.
struct Trace {
  bool found = false;
  std::string_view name, index;
};

Trace trace(std::string_view leaf) {
  if (leaf.size() < 2 || leaf[0] != '*') return {};
  std::size_t at = 1;
  while (at < leaf.size() && (is_letter_or_digit(leaf[at]) || leaf[at] == '?')) ++at;
  const std::string_view name = leaf.substr(1, at - 1);
  if (!name.empty()) {  // *NAME*
    if (at == leaf.size() || leaf[at] != '*') return {};
    ++at;
  }
  if (at == leaf.size()) return {!name.empty(), name, {}};
  if (leaf[at] != '-' || at + 1 == leaf.size()) return {};
  const std::string_view index = leaf.substr(at + 1);
  if (!std::ranges::all_of(index, is_letter_or_digit)) return {};
  return {true, name, index};
}

constexpr std::array<std::pair<std::string_view, char>, 6> brackets{
    {{"LRB", '('}, {"RRB", ')'}, {"LCB", '{'}, {"RCB", '}'}, {"LSB", '['}, {"RSB", ']'}}};

// The bracket that a text names from a place on, or 0.
char named_bracket(std::string_view text, std::size_t at) {
  for (const auto& [name, bracket] : brackets) {
    if (text.substr(std::min(at, text.size()), name.size()) == name) return bracket;
  }
  return 0;
}

}  // namespace

bool is_empty_leaf(std::string_view leaf) { return leaf == "0" || leaf == "*" || trace(leaf).found; }

bool is_surely_empty(std::string_view leaf) {
  const Trace parts = trace(leaf);
  if (!parts.found) return false;
  if (!parts.index.empty()) return true;
  constexpr std::array<std::string_view, 12> known{"t",   "ich", "con", "pro", "exp", "arb",
                                                   "rnr", "ppa", "op",  "0",   "?",   "xxx"};
  return std::ranges::any_of(known, [&](auto name) { return same_but_for_case(name, parts.name); });
}

bool is_code(std::string_view label) { return label == "CODE" || label == "METADATA"; }

bool is_punctuation(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      if (is_letter_or_digit(text[i])) return false;
      continue;
    }
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    const bool sign_of_latin_1 = byte == 0xC2 && next != 0xAA && next != 0xB5 && next != 0xBA;
    const bool general = byte == 0xE2 && next == 0x80;     // dashes, quotation marks, dots
    const bool of_chinese = byte == 0xE3 && next == 0x80;  // 。「」
    if (!sign_of_latin_1 && !general && !of_chinese) return false;
    i += byte == 0xC2 ? 1 : 2;
  }
  return !text.empty();
}

bool has_tag_after_slash(std::string_view leaf) {
  const std::size_t slash = leaf.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == leaf.size()) return false;
  const std::string_view tag = leaf.substr(slash + 1);
  return std::ranges::none_of(tag, [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

void drop_wrapper(Sentence& sentence) {
  auto& nodes = sentence.nodes;
  const auto under_wrapper = [](const auto& item) { return item.parent == 0; };
  if (nodes.empty() || !nodes[0].label.empty()) return;
  if (std::ranges::any_of(sentence.words, under_wrapper)) return;
  if (std::ranges::count_if(nodes, under_wrapper) != 1) return;
  nodes.erase(nodes.begin());
  for (Node& node : nodes) --node.parent;  // what was under the wrapper, node 0, is now under no_parent
  for (Word& word : sentence.words) --word.parent;
}

std::size_t hyphen_before_lemma(std::string_view leaf) {
  if (leaf.size() < 3) return std::string_view::npos;
  if (std::ranges::all_of(leaf, [](char c) { return c == '-'; }))
    return leaf.size() / 2;  // the word is a dash
  const std::size_t hyphen = leaf.rfind('-', leaf.size() - 2);
  return hyphen == 0 ? std::string_view::npos : hyphen;
}

std::string joined(const std::vector<std::string_view>& lemmas) {
  std::string all;
  for (const std::string_view lemma : lemmas) {
    if (!all.empty()) all += ' ';
    all += lemma.empty() ? "_" : lemma;
  }
  return all;
}

bool names_bracket(std::string_view text) {
  for (std::size_t b = text.find('B'); b != std::string_view::npos; b = text.find('B', b + 1)) {
    if (b >= 3 && named_bracket(text, b - 2) != 0 &&
        (text[b - 3] == '-' || text[b - 3] == '#' || text[b - 3] == '~'))
      return true;
  }
  return false;
}

std::string unescaped(std::string_view text, bool hash) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '-' || (hash && c == '#')) {
      std::size_t name = at + 1;
      while (name < text.size() && text[name] == '~') ++name;
      if (const char bracket = named_bracket(text, name)) {
        if (name > at + 1) {  // literally: one ~ less
          result += c;
          result += text.substr(at + 2, name + 3 - (at + 2));
          at = name + 3;
          continue;
        }
        if (name + 3 < text.size() && text[name + 3] == c) {
          result += bracket;
          at = name + 4;
          continue;
        }
      }
    }
    result += c;
    ++at;
  }
  return result;
}

namespace {

class Surveyor {
 public:
  explicit Surveyor(std::string_view text) : text_(text) {}

  BracketSurvey survey() {
    std::size_t at = 0;
    int line_breaks = 1;  // since the last thing
    while (at < text_.size()) {
      const char c = text_[at];
      if (is_space(c)) {
        line_breaks += c == '\n' ? 1 : 0;
        ++at;
        continue;
      }
      const bool begins_line = at == 0 || text_[at - 1] == '\n';
      const bool comment = c == '#' && begins_line && text_.substr(at, 2) != "#)";
      // After an empty line or a comment, what was not closed is over.
      if (comment || (c == '(' && begins_line && line_breaks > 1)) open_.clear();
      line_breaks = 0;
      if (comment) {
        at = std::min(text_.find('\n', at), text_.size());
      } else if (c == '(') {
        const std::size_t end = atom_end(at + 1);
        if (!open_.empty()) ++open_.back().children;
        open_.push_back({.label = text_.substr(at + 1, end - at - 1)});
        at = end;
      } else if (c == ')') {
        ++at;
        if (!open_.empty()) close();
      } else {
        const std::size_t end = atom_end(at);
        if (!open_.empty()) add(text_.substr(at, end - at));
        at = end;
      }
    }
    return so_far_;
  }

 private:
  struct Open {
    std::string_view label;
    std::string_view first, last;  // leaves
    int leaves = 0, children = 0;
  };

  std::size_t atom_end(std::size_t at) const {
    while (at < text_.size() && !is_space(text_[at]) && text_[at] != '(' && text_[at] != ')') ++at;
    return at;
  }

  void add(std::string_view leaf) {
    Open& node = open_.back();
    if (node.label == "ID" || node.label == "-NONE-" || is_code(node.label) || leaf == "END_OF_TEXT_UNIT")
      return;
    if (is_empty_leaf(leaf)) {
      so_far_.empty += is_surely_empty(leaf) ? 1 : 0;
      return;
    }
    if (node.leaves == 0) node.first = leaf;
    node.last = leaf;
    ++node.leaves;
    ++so_far_.words;
    so_far_.slashes += has_tag_after_slash(leaf) ? 1 : 0;
    so_far_.hyphens += hyphen_before_lemma(leaf) != std::string_view::npos ? 1 : 0;
  }

  void close() {
    const Open node = open_.back();
    open_.pop_back();
    const bool inner = !open_.empty(), beside = open_.size() == 1 && open_.back().label.empty();
    if (node.label == "ID" && beside) ++so_far_.ids;
    if (is_code(node.label)) ++so_far_.codes;
    if (node.leaves == 0) return;
    if (node.children > 0 || node.leaves > 2 || (node.leaves == 2 && !inner)) {
      ++so_far_.others;
    } else if (node.leaves == 1) {
      ++so_far_.single;
    } else {
      ++so_far_.pairs;
      so_far_.equal += same_but_for_case(node.first, node.last) ? 1 : 0;
      so_far_.alike += lower(node.first[0]) == lower(node.last[0]) ? 1 : 0;
    }
  }

  std::string_view text_;
  std::vector<Open> open_;
  BracketSurvey so_far_;
};

}  // namespace

BracketSurvey survey_brackets(std::string_view text) { return Surveyor(text).survey(); }

}  // namespace treemean
