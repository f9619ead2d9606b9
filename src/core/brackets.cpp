#include "brackets.hpp"

#include <algorithm>
#include <optional>

#include "read_error.hpp"

namespace treemean {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t found = text.find(from); found != std::string_view::npos; found = text.find(from, at)) {
    result += text.substr(at, found - at);
    result += to;
    at = found + from.size();
  }
  result += text.substr(at);
  return result;
}

std::string shown(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "…";
}

class BracketReader {
 public:
  BracketReader(std::string_view text, bool discontinuous, const ReadOptions& options)
      : text_(text), discontinuous_(discontinuous), options_(options), lines_(text) {}

  ReadResult read() {
    std::size_t at = 0;
    while (result_.problems.empty() || options_.skip) {
      while (at < text_.size() && is_space(text_[at])) ++at;
      result_.consumed = at;
      if (at == text_.size() || result_.columns.full()) break;
      try {
        at = read_record(at);
      } catch (const Incomplete&) {
        break;
      } catch (const ReadError& bad) {
        const std::size_t end = closed_at_ ? text_.find('\n', *closed_at_) : next_record(at);
        const bool hopeless = !options_.skip && dynamic_cast<const TooLarge*>(&bad) != nullptr;
        if (end == std::string_view::npos && !options_.final && !hopeless)
          break;  // the record may go on: see more of it first
        const std::size_t stop = std::min(end, text_.size());
        const std::int64_t line = 1 + lines_.before(std::min(bad.at(), stop));
        const std::size_t number = result_.columns.sentences() + result_.problems.size();
        result_.problems.push_back({bad.message(), line, at, stop, number});
        result_.consumed = at = stop;
      }
    }
    result_.lines = lines_.before(result_.consumed);
    return std::move(result_);
  }

 private:
  struct Frame {
    int node;
    int children = 0;
    int words = 0;
  };

  // The beginning of the next line that begins with a bracket.
  std::size_t next_record(std::size_t at) const {
    const std::size_t found = text_.find("\n(", at);
    return found == std::string_view::npos ? found : found + 1;
  }

  std::size_t read_record(const std::size_t begin) {
    closed_at_.reset();
    if (text_[begin] != '(')
      throw ReadError{"a tree must begin with (, not with '" + shown(line_from(begin)) + "'", begin};
    sentence_.clear();
    positions_.clear();
    frames_.clear();
    bare_ = 0;
    std::size_t at = read_tree(begin);
    closed_at_ = at;
    if (discontinuous_) at = read_rest_of_line(at);
    if (!is_valid_utf8(text_.substr(begin, at - begin))) throw ReadError{"not valid UTF-8", begin};
    if (sentence_.words.empty()) throw ReadError{"the tree has no words", begin};
    if (discontinuous_) {
      order_words(begin);
    } else if (!options_.keep_wrapper) {
      drop_wrapper();
    }
    if (std::string why = sentence_.too_large(); !why.empty()) throw TooLarge{std::move(why), begin};
    result_.columns.add(sentence_, "ROOT");
    return at;
  }

  std::string_view line_from(std::size_t at) const {
    return text_.substr(at, std::min(text_.find('\n', at), text_.size()) - at);
  }

  std::size_t read_tree(std::size_t at) {
    while (true) {
      if (at == text_.size()) {
        if (!options_.final) throw Incomplete{};
        throw ReadError{"the tree is not closed", at};
      }
      const char c = text_[at];
      if (is_space(c)) {
        if (c == '\n' && at + 1 < text_.size() && text_[at + 1] == '(') {
          throw ReadError{"the tree is not closed before the next one begins", at};
        }
        ++at;
      } else if (c == '(') {
        const std::size_t end = atom_end(at + 1);
        const int parent = frames_.empty() ? no_parent : frames_.back().node;
        if (!frames_.empty()) ++frames_.back().children;
        frames_.push_back({static_cast<int>(sentence_.nodes.size())});
        sentence_.nodes.push_back({unescaped(text_.substr(at + 1, end - at - 1)), {}, parent});
        check_size(at);
        at = end;
      } else if (c == ')') {
        close(at);
        ++at;
        if (frames_.empty()) return at;
      } else {
        const std::size_t end = atom_end(at);
        if (end == text_.size() && !options_.final) throw Incomplete{};
        ++frames_.back().words;
        read_leaf(text_.substr(at, end - at), at);
        check_size(at);
        at = end;
      }
    }
  }

  void check_size(std::size_t at) const {
    if (!sentence_.is_within_limits(frames_.size())) throw TooLarge{sentence_.too_large(frames_.size()), at};
  }

  std::size_t atom_end(std::size_t at) const {
    while (at < text_.size() && !is_space(text_[at]) && text_[at] != '(' && text_[at] != ')') ++at;
    return at;
  }

  void read_leaf(std::string_view leaf, std::size_t at) {
    std::string_view word = leaf;
    if (discontinuous_) {
      std::size_t digits = 0;
      std::int64_t position = 0;
      while (digits < leaf.size() && leaf[digits] >= '0' && leaf[digits] <= '9' && position < (1 << 30)) {
        position = 10 * position + (leaf[digits++] - '0');
      }
      const bool bare = digits == leaf.size();
      if (digits == 0 || (!bare && leaf[digits] != '=')) {
        throw ReadError{"the leaf '" + shown(leaf) + "' is not of the form INDEX=word", at};
      }
      bare_ += bare;
      word = bare ? std::string_view{} : leaf.substr(digits + 1);
      if (!bare && word.empty()) throw ReadError{"the leaf '" + shown(leaf) + "' has no word", at};
      positions_.push_back(position);
    }
    sentence_.words.push_back({unescaped(word), {}, {}, frames_.back().node});
  }

  // Ends a node. One that holds nothing but a word is that word's tag.
  void close(std::size_t at) {
    const Frame frame = frames_.back();
    frames_.pop_back();
    const Node& node = sentence_.nodes[frame.node];
    if (frame.children == 0 && frame.words == 0) {
      throw ReadError{"the node '" + shown(node.label) + "' has no words", at};
    }
    if (frame.children == 0 && frame.words == 1) {
      Word& word = sentence_.words.back();
      word.tag = node.label;
      word.parent = node.parent;
      sentence_.nodes.pop_back();
      if (!discontinuous_ && word.tag == "-NONE-") {
        sentence_.words.pop_back();  // a trace is no word
      }
    } else if (frame.words > 0 && node.label.empty()) {
      throw ReadError{"a word stands directly in a node without label (a blank between ( and the label?)",
                      at};
    }
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
      if (bare_) throw ReadError{"the leaves are numbers only, and no sentence follows after a tab", at};
      return rest;
    }
    if (text_[rest] != '\t')
      throw ReadError{"unexpected '" + shown(line_from(rest)) + "' after the tree", rest};
    std::string_view after = text_.substr(rest + 1, end - rest - 1);
    while (!after.empty() && is_space(after.back())) after.remove_suffix(1);
    if (bare_) {
      tokens_.clear();
      for (std::size_t i = 0; i < after.size();) {
        const std::size_t stop = std::min(after.find(' ', i), after.size());
        if (stop > i) tokens_.push_back(after.substr(i, stop - i));
        i = stop + 1;
      }
      if (tokens_.size() != sentence_.words.size() || bare_ != static_cast<int>(tokens_.size())) {
        throw ReadError{"the tree has " + std::to_string(sentence_.words.size()) +
                            " words and the sentence after it " + std::to_string(tokens_.size()),
                        rest};
      }
      for (std::size_t i = 0; i < tokens_.size(); ++i) {
        if (positions_[i] >= static_cast<std::int64_t>(tokens_.size())) continue;  // order_words will say so
        sentence_.words[i].text = unescaped(tokens_[positions_[i]]);
      }
    } else {
      sentence_.comment = after;
    }
    return end;
  }

  // The Penn Treebank wraps each tree in a pair of brackets without label: ( (S ...) ).
  void drop_wrapper() {
    auto& nodes = sentence_.nodes;
    const auto under_wrapper = [](const auto& item) { return item.parent == 0; };
    if (nodes.empty() || !nodes[0].label.empty()) return;
    if (std::ranges::any_of(sentence_.words, under_wrapper)) return;
    if (std::ranges::count_if(nodes, under_wrapper) != 1) return;
    nodes.erase(nodes.begin());
    for (Node& node : nodes) --node.parent;  // what was under the wrapper, node 0, is now under no_parent
    for (Word& word : sentence_.words) --word.parent;
  }

  void order_words(std::size_t at) {
    const std::size_t n = positions_.size();
    ordered_.assign(n, Word{});
    seen_.assign(n, false);
    for (std::size_t i = 0; i < n; ++i) {
      const auto position = static_cast<std::size_t>(positions_[i]);
      if (position >= n) {
        throw ReadError{"word " + std::to_string(position) + " in a tree of " + std::to_string(n) +
                            " words: numbers must run from 0 without gaps",
                        at};
      }
      if (seen_[position]) throw ReadError{"word " + std::to_string(position) + " occurs twice", at};
      seen_[position] = true;
      ordered_[position] = sentence_.words[i];
    }
    sentence_.words.swap(ordered_);
  }

  std::string_view unescaped(std::string_view text) {
    if (text.size() < 5 || text.find("RB") == std::string_view::npos) return text;
    if (discontinuous_ && text.find("#LRB#") != std::string_view::npos)
      text = sentence_.own(replaced(text, "#LRB#", "("));
    if (discontinuous_ && text.find("#RRB#") != std::string_view::npos)
      text = sentence_.own(replaced(text, "#RRB#", ")"));
    if (text.find("-LRB-") != std::string_view::npos) text = sentence_.own(replaced(text, "-LRB-", "("));
    if (text.find("-RRB-") != std::string_view::npos) text = sentence_.own(replaced(text, "-RRB-", ")"));
    return text;
  }

  std::string_view text_;
  bool discontinuous_;
  ReadOptions options_;
  LineCounter lines_;
  ReadResult result_;
  std::size_t line_end_ = 0;  // the end of some line; of the current one once a tree of it is read
  Sentence sentence_;
  std::vector<std::int64_t> positions_;
  std::vector<Frame> frames_;
  std::vector<Word> ordered_;
  std::vector<bool> seen_;
  std::vector<std::string_view> tokens_;
  std::optional<std::size_t> closed_at_;  // the end of the current record's brackets, once they are closed
  int bare_ = 0;                          // leaves that are a number without a word
};

}  // namespace

ReadResult read_brackets(std::string_view text, bool discontinuous, const ReadOptions& options) {
  return BracketReader(text, discontinuous, options).read();
}

}  // namespace treemean
