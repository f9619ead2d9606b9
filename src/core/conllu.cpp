#include "conllu.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "json.hpp"

namespace treemean {
namespace {

constexpr std::size_t columns_of_a_row = 10;
constexpr std::size_t most_comments = 64;  // they are compared with each other

// A number as words have it: from 1 on, without zeros in front; -1 if the text is none.
std::int64_t word_number(std::string_view text) { return text.starts_with('0') ? -1 : small_number(text); }

// Whether a row is a range of words such as 3-4 or an empty node such as 3.1.
bool is_no_word(std::string_view id) {
  const std::size_t sign = id.find_first_of("-.");
  return sign != std::string_view::npos && small_number(id.substr(0, sign)) >= 0 &&
         small_number(id.substr(sign + 1)) >= 0;
}

class ConlluReader {
 public:
  ConlluReader(std::string_view text, bool final, Vocabularies& known)
      : text_(text), final_(final), lines_(text, final) {
    known.lend_to(result_.columns);
  }

  PlainResult read() {
    std::size_t begin = 0, end = 0;
    std::int64_t line = 0;
    rows_.clear();
    while (lines_.next()) {
      const std::string_view text = lines_.line().text;
      // Blank lines and no others are without anything but ASCII's white space, as for bytes in Python.
      if (text.find_first_not_of(" \t\r\v\f") != std::string_view::npos) {
        if (rows_.empty()) {
          begin = lines_.line().begin;
          line = lines_.breaks_before();
        }
        end = lines_.line().end;
        // One row too many tells that there are too many, in bounded memory.
        if (rows_.size() <= max_pieces) rows_.push_back(text);
        continue;
      }
      finish(begin, end, line);
      result_.consumed = lines_.line().next;
      result_.lines = lines_.breaks_after();
      if (result_.full()) return std::move(result_);
    }
    if (final_) {
      finish(begin, end, line);
      result_.consumed = text_.size();
      result_.lines = lines_.breaks_after();
    }
    return std::move(result_);
  }

 private:
  void finish(std::size_t begin, std::size_t end, std::int64_t line) {
    if (!rows_.empty() && !read_sentence(text_.substr(begin, end - begin))) {
      result_.odd.push_back({begin, end, line, result_.columns.sentences(), 0});
    }
    rows_.clear();
  }

  bool read_sentence(std::string_view record) {
    sentence_.clear();
    comments_.clear();
    heads_.clear();
    if (rows_.size() > max_pieces || !is_valid_utf8(record)) return false;
    for (const std::string_view row : rows_) {
      if (!(row.starts_with('#') ? read_comment(row) : read_row(row))) return false;
    }
    const std::size_t count = sentence_.words.size();
    if (count == 0 || !make_nodes(count) || !sentence_.too_large().empty()) return false;
    if (!order_.arrange(sentence_)) return false;
    metadata_.clear();
    json::append_object(metadata_, comments_);
    sentence_.metadata = metadata_;
    result_.columns.add(sentence_, "ROOT");
    return true;
  }

  bool read_comment(std::string_view row) {
    const std::size_t equals = row.find('=');
    if (equals == std::string_view::npos) return true;
    const std::string_view key = without_white(row.substr(1, equals - 1));
    const std::string_view value = without_white(row.substr(equals + 1));
    if (has_wide_blank_at_an_end(key) || has_wide_blank_at_an_end(value)) return false;
    if (key.empty()) return true;
    if (key == "sent_id") {
      if (sentence_.id.data() != nullptr) return false;
      sentence_.id = value;
      return true;
    }
    const auto same = [&](const auto& comment) { return comment.first == key; };
    if (comments_.size() == most_comments || std::ranges::any_of(comments_, same)) return false;
    comments_.emplace_back(key, value);
    return true;
  }

  bool read_row(std::string_view row) {
    std::array<std::string_view, columns_of_a_row> fields;
    std::size_t at = 0;
    for (std::size_t k = 0; k < columns_of_a_row; ++k) {
      const std::size_t tab = row.find('\t', at);
      if ((tab == std::string_view::npos) != (k + 1 == columns_of_a_row)) return false;
      fields[k] = row.substr(at, tab - at);
      at = tab + 1;
    }
    const auto& [id, form, lemma, upos, xpos, features, head, relation, edges, rest] = fields;
    const std::int64_t number = word_number(id);
    if (number < 0) return is_no_word(id);
    const std::int64_t above = head == "0" ? 0 : word_number(head);
    if (above < 0 || form.empty()) return false;
    if (number != static_cast<std::int64_t>(sentence_.words.size()) + 1) return false;
    const std::string_view tag = filled(upos, "_").empty() ? filled(xpos, "_") : upos;
    sentence_.words.push_back({form, tag, filled(relation, "_"), no_parent});
    heads_.push_back(above);
    return true;
  }

  // Every word with dependents heads a node, and is its word with the function `head`.
  bool make_nodes(std::size_t count) {
    node_of_.assign(count + 1, no_parent);
    for (const std::int64_t head : heads_) {
      if (head > static_cast<std::int64_t>(count)) return false;
      if (head > 0) node_of_[static_cast<std::size_t>(head)] = 0;
    }
    int nodes = 0;
    for (std::size_t word = 1; word <= count; ++word) {
      if (node_of_[word] != no_parent) node_of_[word] = nodes++;
    }
    for (std::size_t k = 0; k < count; ++k) {
      Word& word = sentence_.words[k];
      const int above = node_of_[static_cast<std::size_t>(heads_[k])];
      const int own = node_of_[k + 1];
      word.parent = own == no_parent ? above : own;
      if (own == no_parent) continue;
      sentence_.nodes.push_back({word.tag, word.function, above});
      word.function = "head";
    }
    return true;
  }

  std::string_view text_;
  bool final_;
  Lines lines_;
  PlainResult result_;
  Sentence sentence_;
  ParentsFirst order_;
  std::vector<std::string_view> rows_;
  std::vector<std::pair<std::string_view, std::string_view>> comments_;
  std::vector<std::int64_t> heads_;
  std::vector<int> node_of_;
  std::string metadata_;
};

}  // namespace

PlainResult read_conllu(std::string_view text, bool final, Vocabularies& known) {
  PlainResult result = ConlluReader(text, final, known).read();
  known.learn_from(result.columns);
  return result;
}

}  // namespace treemean
