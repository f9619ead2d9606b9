#include "tiger.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "read_error.hpp"
#include "xml.hpp"

namespace treemean {
namespace {

constexpr int takes_no_more = -1;
constexpr std::size_t deepest = 8;
constexpr std::size_t most_attributes = 16;

bool is_xml_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool continues_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

// Whether a text in UTF-8 has only characters that XML can have.
bool has_only_characters(std::string_view text) {
  bool controls = false;
  for (const char c : text) controls |= static_cast<unsigned char>(c) < 0x20 && !is_xml_space(c);
  return !controls && text.find("\xEF\xBF\xBE") == std::string_view::npos &&
         text.find("\xEF\xBF\xBF") == std::string_view::npos;
}

// A tag that is written as programs write them: plain names, blanks between attributes, no namespaces.
class PlainTag {
 public:
  enum class Kind { start, end, empty };

  // Reads the tag at a place; false if it is none, or not plain, or not complete.
  bool read(std::string_view text, std::size_t at) {
    text_ = text;
    at_ = at + 1;
    count_ = 0;
    has_references_ = false;
    const bool closes = at_ < text.size() && text[at_] == '/';
    at_ += closes;
    if (!read_name(name_)) return false;
    while (true) {
      const std::size_t before = at_;
      skip_spaces();
      if (at_ == text_.size()) return false;
      if (text_[at_] == '>') {
        ++at_;
        kind_ = closes ? Kind::end : Kind::start;
        return true;
      }
      if (closes) return false;
      if (text_[at_] == '/') {
        kind_ = Kind::empty;
        at_ += 2;
        return at_ <= text_.size() && text_[at_ - 1] == '>';
      }
      if (before == at_ || !read_attribute()) return false;
    }
  }

  Kind kind() const { return kind_; }
  std::string_view name() const { return name_; }
  std::size_t end() const { return at_; }

  // Throws ReadError if some attribute, used or not, refers to what is not known or is no character.
  void check_references() const {
    for (std::size_t k = 0; has_references_ && k < count_; ++k) {
      if (!has_only_characters(xml::unescaped(attributes_[k].second, 0))) {
        throw ReadError{"a reference to what is no character", 0};
      }
    }
  }

  // The raw value of an attribute, with an empty data() if it is absent.
  std::string_view attribute(std::string_view name) const {
    for (std::size_t k = 0; k < count_; ++k) {
      if (attributes_[k].first == name) return attributes_[k].second;
    }
    return {};
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && is_xml_space(text_[at_])) ++at_;
  }

  bool read_name(std::string_view& name) {
    const std::size_t begin = at_;
    if (at_ == text_.size() || !begins_name(text_[at_])) return false;
    while (at_ < text_.size() && continues_name(text_[at_])) ++at_;
    name = text_.substr(begin, at_ - begin);
    return true;
  }

  bool read_attribute() {
    std::string_view name;
    if (count_ == most_attributes || !read_name(name) || name == "xmlns") return false;
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != '=') return false;
    ++at_;
    skip_spaces();
    if (at_ == text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return false;
    const char quote = text_[at_++];
    const std::size_t begin = at_;
    for (; at_ < text_.size() && text_[at_] != quote && text_[at_] != '<' && text_[at_] != '\r'; ++at_) {
      has_references_ |= text_[at_] == '&';
    }
    if (at_ == text_.size() || text_[at_] != quote || attribute(name).data() != nullptr) return false;
    attributes_[count_++] = {name, text_.substr(begin, at_ - begin)};
    ++at_;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Kind kind_ = Kind::start;
  std::string_view name_;
  std::array<std::pair<std::string_view, std::string_view>, most_attributes> attributes_;
  std::size_t count_ = 0;
  bool has_references_ = false;
};

class TigerReader {
 public:
  TigerReader(std::string_view text, bool final, int state, Vocabularies& known)
      : text_(text), final_(final) {
    result_.plain.state = state;
    known.lend_to(result_.plain.columns);
  }

  TigerResult read() {
    std::size_t at = 0;
    while (at < text_.size() && result_.plain.state != takes_no_more && !result_.plain.full()) {
      if (text_[at] != '<') {
        at = std::min(text_.find('<', at), text_.size());
      } else if (const std::size_t end = take(at); end != std::string_view::npos) {
        at = end;
      } else {
        break;
      }
    }
    const bool all = result_.plain.state == takes_no_more || (final_ && !result_.plain.full());
    result_.plain.consumed = all ? text_.size() : at;
    return std::move(result_);
  }

 private:
  // Moves behind the piece of markup at a place: a sentence, a tag, a comment; npos if it is not complete.
  std::size_t take(std::size_t at) {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("<?")) return behind("?>", at + 2);
    if (rest.starts_with("<!--")) return behind("-->", at + 4);
    if (rest.starts_with("<!DOCTYPE")) return behind_doctype(at);
    if (rest.starts_with("<!")) {
      if (!final_ && std::string_view("<!DOCTYPE").starts_with(rest)) return std::string_view::npos;
      if (!final_ && std::string_view("<!--").starts_with(rest)) return std::string_view::npos;
      return give_up();
    }
    const std::size_t end = behind_tag(at);
    if (end == std::string_view::npos || result_.plain.state == takes_no_more) return end;
    const bool closes = rest.starts_with("</");
    std::string_view name = rest.substr(closes ? 2 : 1);
    name = name.substr(0, std::min(name.find_first_of(" \t\r\n/>"), name.size()));
    name = name.substr(name.rfind(':') + 1);  // all of it if there is no prefix
    if (name != "s") return end;
    int& open = result_.plain.state;
    if (closes) {
      if (--open < 0) open = 0;
      return end;
    }
    if (open == 0) {
      const std::size_t last = end_of_sentence(at, end);
      if (last == std::string_view::npos && !final_) return last;
      if (last != std::string_view::npos && read_sentence(at, last)) {
        note(at, last);
        return last;
      }
    }
    if (text_[end - 2] != '/') ++open;
    return end;
  }

  // Where the element ends that begins with the tag from `at` to `end`, if nothing is odd about it.
  std::size_t end_of_sentence(std::size_t at, std::size_t end) {
    if (text_[end - 2] == '/') return end;
    constexpr std::string_view closing = "</s>";
    // The next end may lie far ahead of many odd sentences: look for it once.
    if (!next_close_ || *next_close_ < at) next_close_ = text_.find(closing, at);
    return *next_close_ == std::string_view::npos ? *next_close_ : *next_close_ + closing.size();
  }

  void note(std::size_t begin, std::size_t end) {
    if (!result_.runs.empty()) {
      PlainRun& last = result_.runs.back();
      if (text_.substr(last.end, begin - last.end).find_first_not_of(" \t\r\n") == std::string_view::npos) {
        last.end = end;
        ++last.sentences;
        return;
      }
    }
    result_.runs.push_back({begin, end, 1});
  }

  // Beyond this point no sentence is looked for: a parser has to see it all.
  std::size_t give_up() {
    result_.plain.state = takes_no_more;
    return text_.size();
  }

  std::size_t behind(std::string_view end, std::size_t at) {
    const std::size_t found = text_.find(end, at);
    if (found != std::string_view::npos) return found + end.size();
    return final_ ? give_up() : std::string_view::npos;
  }

  std::size_t behind_doctype(std::size_t at) { return behind_markup(at, "\"'>[", '['); }

  std::size_t behind_tag(std::size_t at) { return behind_markup(at + 1, "\"'><", '<'); }

  // Behind the next > outside of quotes. Of `signs`, all that matter, `odd` is the one left to Python.
  std::size_t behind_markup(std::size_t at, std::string_view signs, char odd) {
    while (true) {
      at = text_.find_first_of(signs, at);
      if (at == std::string_view::npos) return final_ ? give_up() : at;
      if (text_[at] == odd) return give_up();
      if (text_[at] == '>') return at + 1;
      at = text_.find(text_[at], at + 1);
      if (at == std::string_view::npos) return final_ ? give_up() : at;
      ++at;
    }
  }

  struct Edge {
    std::string_view child, label;
    int parent;
  };
  static constexpr int virtual_root = -2;

  bool read_sentence(std::size_t begin, std::size_t end) {
    const std::string_view record = text_.substr(begin, end - begin);
    if (has_too_many_pieces(record, "<=") || !is_valid_utf8(record) || !has_only_characters(record))
      return false;
    sentence_.clear();
    index_of_.clear();
    edges_.clear();
    root_ = {};
    try {
      if (!read_elements(record) || !resolve()) return false;
    } catch (const ReadError&) {
      return false;  // an entity that is not one of the five
    }
    if (!sentence_.too_large().empty() || !order_.arrange(sentence_)) return false;
    result_.plain.columns.add(sentence_, "VROOT");
    return true;
  }

  bool read_elements(std::string_view record) {
    depth_ = 0;
    std::size_t at = 0;
    while (true) {
      if (!tag_.read(record, at)) return false;
      if (tag_.kind() == PlainTag::Kind::end) {
        if (depth_ == 0 || open_[depth_ - 1] != tag_.name()) return false;
        --depth_;
      } else {
        tag_.check_references();
        if (depth_ == deepest || (depth_ > 0 && tag_.name() == "s") || !take_element()) return false;
        open_[depth_] = tag_.name();
        if (tag_.kind() == PlainTag::Kind::start) ++depth_;
      }
      at = tag_.end();
      if (depth_ == 0) return at == record.size();
      while (at < record.size() && is_xml_space(record[at])) ++at;
      if (at == record.size() || record[at] != '<') return false;
    }
  }

  // Takes in a start tag by its place: s/graph/terminals/t, s/graph/nonterminals/nt and, in that, edge.
  bool take_element() {
    const std::string_view name = tag_.name();
    if (depth_ == 0) {
      if (name != "s") return false;
      sentence_.id = value("id");
      return true;
    }
    if (depth_ == 1 && name == "graph") {
      if (root_.data() != nullptr) return false;  // two graphs
      root_ = value("root");
      if (root_.data() == nullptr) root_ = "";
    }
    if (depth_ < 3 || open_[1] != "graph") return true;
    if (depth_ == 3 && name == "t" && open_[2] == "terminals") {
      if (!sentence_.nodes.empty() || tag_.attribute("word").data() == nullptr) return false;
      sentence_.words.push_back({value("word"), filled(value("pos"), "--"), {}, no_parent});
      return name_it(static_cast<int>(sentence_.words.size()) - 1);
    }
    if (open_[2] != "nonterminals") return true;
    if (depth_ == 3 && name == "nt") {
      const std::string_view id = value("id");
      const std::string_view label = filled(value("cat"), "--"), function = filled(value("function"), "--");
      // The node that stands for the parent 0 of the export format.
      if (label == "VROOT" && function.empty() && id == root_ && id.ends_with("_VROOT")) {
        above_ = no_parent;
        return name_it(virtual_root);
      }
      above_ = static_cast<int>(sentence_.nodes.size());
      sentence_.nodes.push_back({label, function, no_parent});
      return name_it(static_cast<int>(sentence_.words.size() + sentence_.nodes.size()) - 1);
    }
    if (depth_ == 4 && name == "edge" && open_[3] == "nt") {
      if (tag_.attribute("idref").data() == nullptr) return false;
      edges_.push_back({value("idref"), filled(value("label"), "--"), above_});
    }
    return true;
  }

  bool name_it(int index) {
    return tag_.attribute("id").data() != nullptr && index_of_.emplace(value("id"), index).second;
  }

  std::string_view value(std::string_view name) {
    const std::string_view raw = tag_.attribute(name);
    return xml::needs_unescaping(raw) ? sentence_.own(xml::unescaped(raw, 0)) : raw;
  }

  bool resolve() {
    const std::size_t words = sentence_.words.size();
    reached_.assign(words + sentence_.nodes.size(), 0);
    for (const Edge& edge : edges_) {
      const auto found = index_of_.find(edge.child);
      if (found == index_of_.end() || found->second == virtual_root) return false;
      const auto child = static_cast<std::size_t>(found->second);
      if (reached_[child]++ != 0) return false;
      if (child < words) {
        sentence_.words[child].parent = edge.parent;
        sentence_.words[child].function = edge.label;
      } else {
        sentence_.nodes[child - words].parent = edge.parent;
        sentence_.nodes[child - words].function = edge.label;
      }
    }
    return true;
  }

  std::string_view text_;
  bool final_;
  TigerResult result_;
  // The first end tag of a sentence from some place on, once looked for.
  std::optional<std::size_t> next_close_;
  Sentence sentence_;
  ParentsFirst order_;
  PlainTag tag_;
  std::array<std::string_view, deepest + 1> open_;
  std::size_t depth_ = 0;
  std::unordered_map<std::string_view, int> index_of_;
  std::vector<Edge> edges_;
  std::vector<char> reached_;
  std::string_view root_;  // what the graph says its root is
  int above_ = no_parent;  // the node whose edges are being read
};

}  // namespace

TigerResult read_tiger(std::string_view text, bool final, int state, Vocabularies& known) {
  TigerResult result = TigerReader(text, final, state, known).read();
  known.learn_from(result.plain.columns);
  return result;
}

}  // namespace treemean
