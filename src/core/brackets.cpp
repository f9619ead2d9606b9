#include "brackets.hpp"

#include <algorithm>
#include <optional>

#include "bracket_lines.hpp"
#include "positions.hpp"
#include "read_error.hpp"

namespace treemean {
namespace {

constexpr std::string_view end_of_unit = "END_OF_TEXT_UNIT";
constexpr std::string_view none = "-NONE-";
constexpr const char* not_utf8 =
    "not valid UTF-8; if it is in another encoding, name it (--encoding latin-1, cp1252, utf-16)";

// A leaf that shows that the dialect was guessed wrongly.
class Foreign : public ReadError {
 public:
  using ReadError::ReadError;
};

class BracketReader {
 public:
  BracketReader(std::string_view text, const BracketDialect& dialect, const ReadOptions& options)
      : text_(text),
        dialect_(dialect),
        may_be_foreign_(dialect.guessed && !dialect.helsinki && dialect.leaves == Leaves::word),
        options_(options),
        lines_(text),
        counter_(text) {
    if (options.known != nullptr) options.known->lend_to(result_.columns);
  }

  BracketResult read() {
    std::size_t at = 0;
    while (result_.problems.empty() || options_.skip) {
      const std::size_t line = lines_.skip_space(at);
      if (pending_id_.empty()) commit(line);
      if (at == text_.size()) {
        if (options_.final) {
          forget_id();
          commit(at);
        }
        break;
      }
      if (result_.columns.full()) break;
      try {
        if (text_[at] == '#' && lines_.begins_line(at)) {
          at = read_comment(at);
        } else {
          at = read_record(at);
        }
      } catch (const Incomplete&) {
        break;
      } catch (const Foreign& leaf) {
        result_.left_out.foreign = leaf.message();
        result_.left_out.line = 1 + counter_.before(leaf.at());
        break;
      } catch (const ReadError& bad) {
        const std::size_t end =
            closed_at_ ? text_.find('\n', *closed_at_) : lines_.next_record(at, indent_, spans_lines_);
        const bool hopeless = !options_.skip && dynamic_cast<const TooLarge*>(&bad) != nullptr;
        if (end == std::string_view::npos && !options_.final && !hopeless)
          break;  // the record may go on: see more of it first
        const std::size_t stop = std::min(end, text_.size());
        const std::int64_t bad_line = 1 + counter_.before(std::min(bad.at(), stop));
        const std::size_t number = result_.columns.sentences() + result_.problems.size();
        result_.problems.push_back({bad.message(), bad_line, at, stop, number});
        left_out_ = result_.left_out;
        forget_id();
        commit(at = stop);
      }
    }
    result_.lines = counter_.before(result_.consumed);
    return std::move(result_);
  }

 private:
  struct Frame {
    int node;
    int children = 0;
    int words = 0;
    int empty = 0;               // leaves that stand for no word
    std::size_t first_word = 0;  // the words before it
  };

  // What is read up to here need not be read again.
  void commit(std::size_t at) {
    result_.consumed = at;
    result_.left_out = left_out_;
  }

  std::size_t read_comment(std::size_t at) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    if (end == text_.size() && !options_.final) throw Incomplete{};
    const std::string_view id = id_in_comment(text_.substr(at, end - at));
    if (!id.empty()) {
      forget_id();
      commit(at);
      pending_id_ = id;
    }
    return end;
  }

  // No tree took the id. If it was a unit by itself, that one is skipped.
  void forget_id() {
    if (!pending_id_.empty() && pending_is_unit_) ++left_out_.wordless;
    pending_id_.clear();
    pending_is_unit_ = false;
  }

  std::size_t read_record(const std::size_t begin) {
    closed_at_.reset();
    indent_ = lines_.indentation(begin);
    spans_lines_ = false;
    if (text_[begin] != '(')
      throw ReadError{"a tree must begin with (, not with '" + shown(lines_.line_from(begin)) + "'", begin};
    sentence_.clear();
    lemmas_.clear();
    positions_.clear();
    frames_.clear();
    left_out_here_ = 0;
    std::size_t at = read_tree(begin);
    closed_at_ = at;
    if (dialect_.discontinuous) at = read_rest_of_line(at);
    if (!is_valid_utf8(text_.substr(begin, at - begin)) || !is_valid_utf8(pending_id_))
      throw ReadError{not_utf8, begin};
    if (sentence_.words.empty()) {
      if (left_out_here_ == 0) throw ReadError{"the tree has no words", begin};
      ++left_out_.wordless;
      return at;
    }
    if (is_id_of_the_next()) {
      forget_id();
      commit(begin);
      pending_id_ = sentence_.words[0].text.substr(1);
      pending_is_unit_ = true;
      return at;
    }
    if (dialect_.discontinuous) {
      positions_.order(sentence_.words, begin);
    } else if (!options_.keep_wrapper) {
      drop_wrapper(sentence_);
    }
    if (sentence_.id.empty()) sentence_.id = pending_id_;
    if (dialect_.keep_lemmas) sentence_.comment = sentence_.own(joined(lemmas_));
    if (std::string why = sentence_.too_large(); !why.empty()) throw TooLarge{std::move(why), begin};
    result_.columns.add(sentence_, "ROOT");
    pending_id_.clear();
    return at;
  }

  // Among leaves of the form word/TAG, `( @name/CD )` is the name of what follows.
  bool is_id_of_the_next() const {
    return dialect_.leaves == Leaves::word_slash_tag && sentence_.words.size() == 1 &&
           sentence_.nodes.size() == 1 && sentence_.nodes[0].label.empty() &&
           sentence_.words[0].text.size() > 1 && sentence_.words[0].text[0] == '@';
  }

  std::size_t read_tree(std::size_t at) {
    bool new_line = false, empty_line = false;
    std::size_t line = 0;
    while (true) {
      if (at == text_.size()) {
        if (!options_.final) throw Incomplete{};
        throw ReadError{"the tree is not closed", at};
      }
      const char c = text_[at];
      if (is_space(c)) {
        if (c == '\n') {
          empty_line = new_line;
          new_line = true;
          line = at + 1;
        }
        ++at;
        continue;
      }
      if (new_line && (c == '(' || c == '#')) check_goes_on(at, line, empty_line);
      new_line = empty_line = false;
      if (c == '(') {
        const std::size_t end = lines_.atom_end(at + 1);
        const int parent = frames_.empty() ? no_parent : frames_.back().node;
        if (!frames_.empty()) ++frames_.back().children;
        frames_.push_back(
            {.node = static_cast<int>(sentence_.nodes.size()), .first_word = sentence_.words.size()});
        sentence_.nodes.push_back({unescape(text_.substr(at + 1, end - at - 1)), {}, parent});
        check_size(at);
        at = end;
      } else if (c == ')') {
        close(at);
        ++at;
        if (frames_.empty()) return at;
      } else {
        const std::size_t end = lines_.atom_end(at);
        if (end == text_.size() && !options_.final) throw Incomplete{};
        read_leaf(text_.substr(at, end - at), at);
        check_size(at);
        at = end;
      }
    }
  }

  void check_size(std::size_t at) const {
    if (!sentence_.is_within_limits(frames_.size())) throw TooLarge{sentence_.too_large(frames_.size()), at};
  }

  // Throws if a bracket or a # at the beginning of a line inside a tree shows that the tree was not closed.
  void check_goes_on(std::size_t at, std::size_t line, bool empty_line) {
    const auto complain = [&] {
      throw ReadError{"the tree is not closed before the next one begins", line - 1};
    };
    if (text_[at] == '#') {
      const bool closes = at + 1 < text_.size() && text_[at + 1] == ')';  // a word: (# #)
      if (at == line && !closes) complain();
    } else if (dialect_.discontinuous) {
      if (at == line) complain();
    } else if (at - line == indent_) {
      if (empty_line) complain();
      if (!spans_lines_ && lines_.balanced_end(at, frames_.size(), options_.final) == std::string_view::npos)
        complain();
      spans_lines_ = true;
    }
  }

  void read_leaf(std::string_view leaf, std::size_t at) {
    if (dialect_.discontinuous) {
      add_word(unescape(positions_.take(leaf, at)));
      return;
    }
    Frame& frame = frames_.back();
    const std::string_view label = sentence_.nodes[frame.node].label;
    if (leaf == end_of_unit && frames_.size() == 1 && label.empty()) {
      leave_out(frame);
    } else if (dialect_.leaves == Leaves::word_slash_tag) {
      const std::size_t slash = leaf.rfind('/');
      if (slash == std::string_view::npos || slash == 0 || slash + 1 == leaf.size()) {
        throw ReadError{"the leaf '" + shown(leaf) + "' is not of the form word/TAG", at};
      }
      const std::string_view tag = leaf.substr(slash + 1);
      if ((tag == "XXX" || tag == none) && !dialect_.keep_empty) {
        count_empty(frame);
      } else {
        add_word(unescape(leaf.substr(0, slash)));
        sentence_.words.back().tag = unescape(tag);
      }
    } else if (dialect_.helsinki && !dialect_.keep_empty && is_empty_leaf(leaf) && label != none) {
      count_empty(frame);
    } else {
      if (may_be_foreign_ && leaf[0] == '*' && label != none && is_surely_empty(leaf)) {
        throw Foreign{"the leaf '" + shown(leaf) + "'", at};
      }
      const bool has_lemma = dialect_.leaves == Leaves::word_lemma && label != "ID" && !is_empty_leaf(leaf);
      const std::size_t hyphen = has_lemma ? hyphen_before_lemma(leaf) : std::string_view::npos;
      add_word(unescape(leaf.substr(0, hyphen)));
      if (dialect_.keep_lemmas && hyphen != std::string_view::npos) lemmas_.back() = leaf.substr(hyphen + 1);
    }
  }

  void add_word(std::string_view word) {
    Frame& frame = frames_.back();
    ++frame.words;
    sentence_.words.push_back({word, {}, {}, frame.node});
    if (dialect_.keep_lemmas) lemmas_.emplace_back();
  }

  void leave_out(Frame& frame) {
    ++frame.empty;
    ++left_out_here_;
  }

  void count_empty(Frame& frame) {
    leave_out(frame);
    ++left_out_.empty;
  }

  // Ends a node. One that holds nothing but a word is that word's tag.
  void close(std::size_t at) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    const Node node = sentence_.nodes[frame.node];
    if (!dialect_.discontinuous && close_as_no_part(frame, node, at)) return;
    if (frame.children == 0 && frame.words == 0) {
      throw ReadError{"the node '" + shown(node.label) + "' has no words", at};
    }
    if (!dialect_.discontinuous && dialect_.leaves == Leaves::word_slash_tag) return;
    if (!dialect_.discontinuous && dialect_.leaves == Leaves::tag_word_lemma && frame.words > 0) {
      close_tag_word_lemma(frame, node, at);
    } else if (frame.children == 0 && frame.words == 1 && frame.empty == 0) {
      become_tag(node);
      if (!dialect_.discontinuous && node.label == none && !dialect_.keep_empty) drop_word();
    } else if (frame.words > 0 && node.label.empty() && !dialect_.discontinuous) {
      throw ReadError{"a word stands directly in a node without label (a blank between ( and the label?)",
                      at};
    }
  }

  // Ends nodes that are no part of a continuous tree, or a word by themselves; tells whether this was one.
  bool close_as_no_part(const Frame& frame, const Node& node, std::size_t at) {
    if ((may_be_foreign_ || dialect_.helsinki) && (node.label == "ID" || is_code(node.label))) {
      const bool beside = frames_.size() == 1 && sentence_.nodes[0].label.empty();
      if (may_be_foreign_ && (beside || node.label != "ID")) {
        throw Foreign{"the node (" + std::string(node.label) + " …)", at};
      }
      if (dialect_.helsinki) {
        if (node.label == "ID" && frame.words == 1) sentence_.id = sentence_.words.back().text;
        sentence_.words.resize(frame.first_word);
        if (dialect_.keep_lemmas) lemmas_.resize(frame.first_word);
        sentence_.nodes.resize(frame.node);
        ++left_out_here_;
        return true;
      }
    }
    if (frame.children > 0 || frame.words > 0) return false;
    sentence_.nodes.pop_back();
    if (frame.empty > 0) return true;
    if (node.label == end_of_unit && frames_.empty()) {
      ++left_out_here_;
      return true;
    }
    if (frames_.empty() || !is_punctuation(node.label)) {
      sentence_.nodes.push_back(node);
      return false;
    }
    sentence_.words.push_back({node.label, node.label, {}, node.parent});  // (,)
    if (dialect_.keep_lemmas) lemmas_.emplace_back();
    return true;
  }

  void close_tag_word_lemma(const Frame& frame, const Node& node, std::size_t at) {
    if (frame.children > 0 || frame.words > 2) {
      throw ReadError{"the leaf '" + shown(node.label) + "' is not of the form (tag word lemma)", at};
    }
    if (frame.words == 1) {
      const std::string_view leaf = sentence_.words.back().text;
      if (!is_empty_leaf(leaf) && node.label != none) {
        throw ReadError{"the leaf '" + shown(node.label) + " " + shown(leaf) + "' has no lemma", at};
      }
      become_tag(node);
      if (!dialect_.keep_empty) drop_word();
      return;
    }
    if (dialect_.keep_lemmas) {
      lemmas_.pop_back();
      lemmas_.back() = sentence_.words.back().text;
    }
    sentence_.words.pop_back();
    become_tag(node);
  }

  void become_tag(const Node& node) {
    Word& word = sentence_.words.back();
    word.tag = node.label;
    word.parent = node.parent;
    sentence_.nodes.pop_back();
  }

  // A trace is no word.
  void drop_word() {
    sentence_.words.pop_back();
    if (dialect_.keep_lemmas) lemmas_.pop_back();
    ++left_out_.empty;
    ++left_out_here_;
  }

  // What may follow a tree on its line, after a tab: the sentence, if the leaves are bare numbers, or a
  // comment.
  std::size_t read_rest_of_line(std::size_t at) {
    // Many trees may stand on one line: look for its end once.
    if (line_end_ < at) line_end_ = std::min(text_.find('\n', at), text_.size());
    if (line_end_ == text_.size() && !options_.final) throw Incomplete{};
    const std::size_t end = line_end_;
    std::size_t rest = at;
    while (rest < end && (text_[rest] == ' ' || text_[rest] == '\r')) ++rest;
    if (rest == end || text_[rest] == '(') {
      if (positions_.bare() > 0)
        throw ReadError{"the leaves are numbers only, and no sentence follows after a tab", at};
      return rest;
    }
    if (text_[rest] != '\t')
      throw ReadError{"unexpected '" + shown(lines_.line_from(rest)) + "' after the tree", rest};
    std::string_view after = text_.substr(rest + 1, end - rest - 1);
    while (!after.empty() && is_space(after.back())) after.remove_suffix(1);
    if (positions_.bare() > 0) {
      tokens_.clear();
      for (std::size_t i = 0; i < after.size();) {
        const std::size_t stop = std::min(after.find(' ', i), after.size());
        if (stop > i) tokens_.push_back(after.substr(i, stop - i));
        i = stop + 1;
      }
      if (tokens_.size() != sentence_.words.size() || positions_.bare() != tokens_.size()) {
        throw ReadError{"the tree has " + std::to_string(sentence_.words.size()) +
                            " words and the sentence after it " + std::to_string(tokens_.size()),
                        rest};
      }
      for (std::size_t i = 0; i < tokens_.size(); ++i) {
        const auto position = static_cast<std::size_t>(positions_[i]);
        if (position < tokens_.size())
          sentence_.words[i].text = unescape(tokens_[position]);  // else see `order`
      }
    } else {
      sentence_.comment = after;
    }
    return end;
  }

  std::string_view unescape(std::string_view text) {
    if (!dialect_.discontinuous && dialect_.leaves == Leaves::tag_word_lemma && text.size() <= 5) {
      if (text == "-Fpa-") return "(";
      if (text == "-Fpt-") return ")";
      if (text == "-fe-") return "\"";
    }
    return may_be_escaped(text) ? sentence_.own(unescaped(text, dialect_.discontinuous)) : text;
  }

  std::string_view text_;
  BracketDialect dialect_;
  bool may_be_foreign_;  // nobody said that leaves like *T*-1 are words
  ReadOptions options_;
  BracketLines lines_;
  LineCounter counter_;
  BracketResult result_;
  LeftOut left_out_;              // with what is not committed yet
  std::string pending_id_;        // of the next tree, told before it
  bool pending_is_unit_ = false;  // by a unit, not by a comment
  std::size_t line_end_ = 0;      // the end of some line; of the current one once a tree of it is read
  Sentence sentence_;
  Positions positions_;
  std::vector<std::string_view> lemmas_;  // of the words, if they are wanted
  std::vector<Frame> frames_;
  std::vector<std::string_view> tokens_;
  std::optional<std::size_t> closed_at_;  // the end of the current record's brackets, once they are closed
  std::int64_t left_out_here_ = 0;        // things of the current record that are no words
  std::size_t indent_ = 0;                // of the current record's first line
  bool spans_lines_ = false;              // the current record has lines that begin as it does
};

}  // namespace

BracketResult read_brackets(std::string_view text, const BracketDialect& dialect,
                            const ReadOptions& options) {
  BracketResult result = BracketReader(text, dialect, options).read();
  if (options.known != nullptr) options.known->learn_from(result.columns);
  return result;
}

}  // namespace treemean
