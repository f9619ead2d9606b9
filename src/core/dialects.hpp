// Dialects of brackets: what the leaves of a file look like, what stands for nothing, and escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace treemean {

struct Sentence;

// How a leaf tells its word.
enum class Leaves : std::uint8_t {
  word,            // (tag word), and words without a tag
  word_lemma,      // (tag word-lemma)
  tag_word_lemma,  // (tag word lemma)
  word_slash_tag,  // word/TAG
};

struct BracketDialect {
  bool discontinuous = false;  // leaves are INDEX=word; the rest is for continuous brackets
  Leaves leaves = Leaves::word;
  bool helsinki = false;     // ID, CODE and METADATA beside the tree; traces stand where words do
  bool guessed = false;      // nobody named the dialect: stop at what looks like another one
  bool keep_empty = false;   // traces and other empty leaves are words
  bool keep_lemmas = false;  // lemmas become the sentence's comment
};

// A white space of ASCII; others belong to words.
inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

// `*`, `*-1`, `*T*-1`, `*con*`, `*0*`, and `0`: what stands for no word where a dialect says so.
bool is_empty_leaf(std::string_view leaf);

// Of these, what is hardly ever a word in any file: `*T*-1`, `*con*`, but neither `0` nor `*`.
bool is_surely_empty(std::string_view leaf);

// Whether a node of this label holds no words in files of the Penn-Helsinki family, whatever it holds.
bool is_code(std::string_view label);

// Whether a node without words, like `(,)`, is a punctuation mark: no letters or digits.
bool is_punctuation(std::string_view text);

// Whether a leaf has the form word/TAG, the tag in capitals or signs.
bool has_tag_after_slash(std::string_view leaf);

// The Penn Treebank wraps each tree in a pair of brackets without label, ( (S ...) ), which is no node.
void drop_wrapper(Sentence& sentence);

// Where the hyphen between word and lemma stands in `word-lemma`; npos if there is none.
std::size_t hyphen_before_lemma(std::string_view leaf);

// Lemmas separated by blanks, _ for those that are missing.
std::string joined(const std::vector<std::string_view>& lemmas);

// Replaces -LRB- and its kind by brackets, #LRB# too if `hash`, and takes a ~ from -~LRB-, by which writers
// mark what is literally -LRB-. Texts that cannot change are told quickly by `may_be_escaped`.
std::string unescaped(std::string_view text, bool hash);
bool names_bracket(std::string_view text);
inline bool may_be_escaped(std::string_view text) {
  return text.size() > 3 && text.find('B', 3) != std::string_view::npos && names_bracket(text);
}

// What the leaves at the beginning of a file look like, for deciding which dialect it is.
struct BracketSurvey {
  std::int64_t words = 0;    // leaves but for empty ones
  std::int64_t single = 0;   // nodes with one of them and nothing else
  std::int64_t pairs = 0;    // nodes other than roots with two leaves and nothing else
  std::int64_t others = 0;   // nodes that mix leaves and nodes, or have more leaves
  std::int64_t equal = 0;    // pairs that say the same twice
  std::int64_t alike = 0;    // pairs that begin with the same letter
  std::int64_t slashes = 0;  // words of the form word/TAG
  std::int64_t hyphens = 0;  // words of the form word-lemma
  std::int64_t ids = 0;      // (ID …) beside a tree
  std::int64_t codes = 0;    // (CODE …), (METADATA …)
  std::int64_t empty = 0;    // leaves like *T*-1 that have no tag -NONE-
};

// Surveys the nodes of a text that are closed. O(text).
BracketSurvey survey_brackets(std::string_view text);

}  // namespace treemean
