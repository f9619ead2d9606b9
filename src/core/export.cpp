#include "export.hpp"

#include <algorithm>
#include <array>

namespace treemean {
namespace {

constexpr std::string_view comment_sign = "%%";
constexpr std::int64_t first_node = 500;
constexpr std::int64_t most_nodes = 1 << 16;
constexpr std::size_t most_fields = 24;

// The column of the parent's number, counted from 0.
constexpr std::size_t parent_column(int version) { return version == 4 ? 5 : 4; }

std::string_view first_field(std::string_view line) {
  line = without_blanks(line);
  return line.substr(0, line.find_first_of(" \t"));
}

// The number of a node such as #500; -1 if the text is none.
std::int64_t node_number(std::string_view text) {
  if (text.size() < 4 || text[0] != '#' || text[1] == '0') return -1;
  const std::int64_t number = small_number(text.substr(1));
  return number >= first_node ? number : -1;
}

struct Fields {
  std::array<std::string_view, most_fields> texts;
  std::size_t count = 0;

  // Cuts a line at blanks and tabs; false if it has more columns than are plain.
  bool cut(std::string_view line) {
    count = 0;
    std::size_t at = 0;
    while (true) {
      while (at < line.size() && is_blank(line[at])) ++at;
      if (at == line.size()) return true;
      if (count == most_fields) return false;
      const std::size_t begin = at;
      while (at < line.size() && !is_blank(line[at])) ++at;
      texts[count++] = line.substr(begin, at - begin);
    }
  }

  bool has_parent(int version) const {
    const std::size_t column = parent_column(version);
    return count > column && small_number(texts[column]) >= 0;
  }

  // Whether what follows the parent's number are pairs of a label and a number, and then a comment.
  bool ends_well(int version) const {
    std::size_t k = parent_column(version) + 1;
    for (; k < count && !texts[k].starts_with(comment_sign); k += 2) {
      if (k + 1 == count || small_number(texts[k + 1]) < 0) return false;
    }
    return true;
  }
};

class ExportReader {
 public:
  ExportReader(std::string_view text, bool final, int version, Vocabularies& known)
      : text_(text), final_(final), lines_(text, final) {
    result_.state = version;
    known.lend_to(result_.columns);
  }

  PlainResult read() {
    bool line_left = false;  // a line that ended the record before it and still has to be looked at
    while (!result_.full() && (line_left || lines_.next())) {
      line_left = false;
      const std::string_view first = first_field(lines_.line().text);
      if (first == "#BOT") {
        if (!skip_table()) break;
      } else if (first.empty() || first.starts_with(comment_sign) || (first == "#FORMAT" && take_version())) {
        take_line();
      } else if (!read_record(first, line_left)) {
        break;
      }
    }
    return std::move(result_);
  }

 private:
  struct Begin {
    std::size_t at;
    std::int64_t line;
  };

  Begin here() const { return {lines_.line().begin, lines_.breaks_before()}; }

  void take_line() {
    result_.consumed = lines_.line().next;
    result_.lines = lines_.breaks_after();
  }

  void leave(const Begin& begin, std::size_t end) {
    result_.odd.push_back({begin.at, end, begin.line, result_.columns.sentences(), result_.state});
  }

  bool take_version() {
    const std::string_view line = without_blanks(lines_.line().text);
    const std::string_view told = without_white(line.substr(first_field(line).size()));
    if (told != "3" && told != "4") return false;
    result_.state = told == "3" ? 3 : 4;
    return true;
  }

  // Passes over a table; false if its end is not there.
  bool skip_table() {
    const Begin begin = here();
    const std::size_t end = lines_.line().end;
    while (lines_.next()) {
      if (first_field(lines_.line().text) == "#EOT") {
        take_line();
        return true;
      }
    }
    if (final_) {
      leave(begin, end);
      result_.consumed = text_.size();
      result_.lines = lines_.breaks_after();
    }
    return false;
  }

  // Reads from the line that begins a record to #EOS, or to the line before what cannot be in a sentence.
  // False if the end is not there yet.
  bool read_record(std::string_view first, bool& line_left) {
    const Begin begin = here();
    const std::string_view opening = lines_.line().text;
    std::size_t end = lines_.line().end;
    body_.clear();
    bool closed = first == "#EOS";
    const bool plain = first == "#BOS";
    while (!closed && lines_.next()) {
      const std::string_view line = lines_.line().text;
      const std::string_view start = without_blanks(line);
      if (start.starts_with('#')) {
        const std::string_view directive = first_field(start);
        if (directive == "#BOS" || directive == "#BOT" || directive == "#FORMAT") {
          leave(begin, end);
          result_.consumed = lines_.line().begin;
          result_.lines = lines_.breaks_before();
          line_left = true;
          return true;
        }
        closed = directive == "#EOS";
      }
      end = lines_.line().end;
      // One line too many tells that there are too many, in bounded memory.
      if (!closed && !start.empty() && !start.starts_with(comment_sign) && body_.size() <= max_pieces)
        body_.push_back(start);
    }
    if (!closed && !final_) return false;
    if (!closed || !plain || !read_sentence(opening, lines_.line().text, begin.at, end)) leave(begin, end);
    take_line();
    return true;
  }

  bool read_sentence(std::string_view opening, std::string_view closing, std::size_t begin, std::size_t end) {
    sentence_.clear();
    const std::string_view record = text_.substr(begin, end - begin);
    if (has_too_many_pieces(record, "\n") || !is_valid_utf8(record)) return false;
    Fields fields;
    if (!fields.cut(opening) || fields.count < 2 || fields.texts[1].starts_with(comment_sign)) return false;
    const std::string_view number = fields.texts[1];
    if (!find_id(opening, number)) return false;
    if (!fields.cut(closing) || (fields.count > 1 && fields.texts[1] != number)) return false;
    const int version = result_.state != 0 ? result_.state : version_of_body();
    if (version == 0 || !read_body(version) || !sentence_.too_large().empty()) return false;
    if (!order_.arrange(sentence_)) return false;
    result_.columns.add(sentence_, "VROOT");
    return true;
  }

  // The id is the number, or what a comment `%% id=…` says.
  bool find_id(std::string_view opening, std::string_view number) {
    sentence_.id = number;
    for (std::size_t at = opening.find(comment_sign); at != std::string_view::npos;
         at = opening.find(comment_sign, at + 1)) {
      std::string_view rest = opening.substr(at + comment_sign.size());
      if (has_wide_blank_at_an_end(rest)) return false;
      while (!rest.empty() && is_white(rest.front())) rest.remove_prefix(1);
      if (has_wide_blank_at_an_end(rest)) return false;
      if (!rest.starts_with("id=")) continue;
      sentence_.id = without_white(rest.substr(3));
      return !has_wide_blank_at_an_end(sentence_.id);
    }
    return true;
  }

  int version_of_body() const {
    for (const int version : {3, 4}) {
      bool fits = true;
      Fields fields;
      for (std::size_t i = 0; fits && i < body_.size(); ++i) {
        fits = fields.cut(body_[i]) && fields.has_parent(version);
      }
      if (fits) return version;
    }
    return 0;
  }

  bool read_body(int version) {
    const std::size_t column = parent_column(version);
    Fields fields;
    numbers_.clear();
    std::int64_t last_number = first_node - 1;
    for (const std::string_view line : body_) {
      if (!fields.cut(line) || !fields.has_parent(version) || !fields.ends_well(version)) return false;
      const auto parent = static_cast<int>(small_number(fields.texts[column]));
      const std::string_view label = filled(fields.texts[column - 3], "--");
      const std::string_view function = filled(fields.texts[column - 1], "--");
      if (const std::int64_t number = node_number(fields.texts[0]); number >= 0) {
        numbers_.push_back(number);
        last_number = std::max(last_number, number);
        sentence_.nodes.push_back({label, function, parent});
      } else if (sentence_.nodes.empty()) {
        sentence_.words.push_back({fields.texts[0], label, function, parent});
      } else {
        return false;  // a word behind what looks like a node
      }
    }
    return last_number < first_node + most_nodes && resolve(last_number);
  }

  // Turns the numbers of parents into indices; false if a node is given twice or is not there.
  bool resolve(std::int64_t last_number) {
    index_of_.assign(static_cast<std::size_t>(last_number - first_node + 1), no_parent);
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      int& index = index_of_[static_cast<std::size_t>(numbers_[i] - first_node)];
      if (index != no_parent) return false;
      index = static_cast<int>(i);
    }
    const auto known = [&](int& parent) {
      if (parent == 0) {
        parent = no_parent;
        return true;
      }
      if (parent < first_node || parent > last_number) return false;
      parent = index_of_[static_cast<std::size_t>(parent - first_node)];
      return parent != no_parent;
    };
    for (Word& word : sentence_.words) {
      if (!known(word.parent)) return false;
    }
    for (Node& node : sentence_.nodes) {
      if (!known(node.parent)) return false;
    }
    return true;
  }

  std::string_view text_;
  bool final_;
  Lines lines_;
  PlainResult result_;
  Sentence sentence_;
  ParentsFirst order_;
  std::vector<std::string_view> body_;
  std::vector<std::int64_t> numbers_;
  std::vector<int> index_of_;
};

}  // namespace

PlainResult read_export(std::string_view text, bool final, int version, Vocabularies& known) {
  PlainResult result = ExportReader(text, final, version, known).read();
  known.learn_from(result.columns);
  return result;
}

}  // namespace treemean
