#include "alpino.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "read_error.hpp"
#include "xml.hpp"

namespace treemean {
namespace {

constexpr std::string_view opening_tag = "<alpino_ds";
constexpr std::string_view closing_tag = "</alpino_ds>";
constexpr const char* not_complete = "the markup is not complete";

class AlpinoReader {
 public:
  AlpinoReader(std::string_view text, const ReadOptions& options)
      : text_(text), options_(options), lines_(text) {
    if (options.known != nullptr) options.known->lend_to(result_.columns);
  }

  ReadResult read() {
    std::size_t at = 0;
    while (!result_.fatal && !result_.columns.full() && (result_.problems.empty() || options_.skip)) {
      result_.consumed = at;
      xml::Scanner scanner(text_, at);
      try {
        const xml::Event event = scanner.next();
        if (event == xml::Event::done) break;
        if (event == xml::Event::start && scanner.name() == "alpino_ds") {
          const std::size_t end = record_end(scanner.begin());  // comments may stand between `at` and the tag
          if (end == std::string_view::npos) break;
          read_record(scanner, {scanner.begin(), end});
          result_.consumed = at = end;
        } else {
          if (event == xml::Event::text) check_outside(scanner);
          if (event == xml::Event::start) ++result_.opened;
          if (event == xml::Event::end) --result_.opened;
          at = scanner.position();  // what wraps the sentences, and blanks between them
        }
      } catch (const Incomplete&) {
        if (options_.final) end_reading({not_complete, text_.size()}, {at, text_.size()});
        break;
      } catch (const ReadError& error) {
        end_reading(error, {at, text_.size()});
      }
    }
    result_.lines = lines_.before(result_.consumed);
    return std::move(result_);
  }

 private:
  struct Extent {
    std::size_t begin, end;
  };

  void note(const ReadError& error, const Extent& record) {
    const std::int64_t line = 1 + lines_.before(error.at());
    const std::size_t number = result_.columns.sentences() + result_.problems.size();
    result_.problems.push_back({error.message(), line, record.begin, record.end, number});
    result_.consumed = record.end;
  }

  // What is wrong outside the sentences leaves nothing to go on with.
  void end_reading(const ReadError& error, const Extent& rest) {
    note(error, rest);
    result_.fatal = true;
  }

  // A sentence ends with its end tag, or where the next one begins if that is missing.
  std::size_t record_end(std::size_t begin) {
    // The next end tag may lie far ahead of many bad sentences: look for it once.
    if (!next_close_ || *next_close_ < begin) next_close_ = text_.find(closing_tag, begin);
    const std::size_t next = text_.find(opening_tag, begin + opening_tag.size());
    if (*next_close_ < next) return *next_close_ + closing_tag.size();
    if (next != std::string_view::npos) return next;
    return options_.final ? text_.size() : std::string_view::npos;
  }

  void check_outside(const xml::Scanner& scanner) const {
    const std::string_view text = text_.substr(scanner.begin(), scanner.position() - scanner.begin());
    if (const std::size_t found = text.find_first_not_of(" \t\r\n"); found != std::string_view::npos) {
      throw ReadError{"text outside the sentences", scanner.begin() + found};
    }
  }

  // `opening` stands on the start tag of the record.
  void read_record(const xml::Scanner& opening, const Extent& extent) {
    const std::size_t begin = extent.begin;
    sentence_.clear();
    begins_.clear();
    try {
      const std::string_view record = text_.substr(0, extent.end);
      if (!is_valid_utf8(record.substr(begin))) throw ReadError{"not valid UTF-8", begin};
      sentence_.id = attribute(opening, "id");
      read_elements(xml::Scanner(record, opening.position()));
      if (sentence_.words.empty()) throw ReadError{"the sentence has no words", begin};
      order_words(begin);
      if (std::string why = sentence_.too_large(); !why.empty()) throw TooLarge{std::move(why), begin};
      result_.columns.add(sentence_, "top");
    } catch (const ReadError& error) {
      note(error, extent);
    } catch (const Incomplete&) {
      note({not_complete, begin}, extent);
    }
  }

  struct Open {
    std::string_view name;
    int node;  // of <node> elements that are constituents, else no_constituent
  };
  static constexpr int no_constituent = -2;

  void read_elements(xml::Scanner scanner) {
    open_.assign(1, {"alpino_ds", no_parent});
    while (!open_.empty()) {
      switch (scanner.next()) {
        case xml::Event::done:
          throw ReadError{"the element <" + std::string(open_.back().name) + "> is not closed",
                          scanner.begin()};
        case xml::Event::text:
          break;
        case xml::Event::end:
          if (scanner.name() != open_.back().name) {
            throw ReadError{"</" + std::string(scanner.name().substr(0, 40)) + "> where <" +
                                std::string(open_.back().name.substr(0, 40)) + "> is open",
                            scanner.begin()};
          }
          open_.pop_back();
          break;
        case xml::Event::start:
          open_.push_back({scanner.name(), start(scanner, true)});
          break;
        case xml::Event::empty:
          start(scanner, false);
          break;
      }
      if (!sentence_.is_within_limits(open_.size()))
        throw TooLarge{sentence_.too_large(open_.size()), scanner.begin()};
    }
  }

  // Takes in a start tag; returns the node under which its children hang.
  int start(const xml::Scanner& scanner, bool has_children) {
    if (scanner.name() == "sentence" && sentence_.id.empty()) sentence_.id = attribute(scanner, "sentid");
    if (scanner.name() != "node") return no_constituent;
    const int parent = open_.back().node;
    if (parent == no_constituent)
      throw ReadError{"a node inside something that is not a constituent", scanner.begin()};
    if (scanner.raw_attribute("word").data() != nullptr) {
      begins_.push_back(number(scanner, "begin"));
      std::string_view tag = attribute(scanner, "pos");
      if (tag.empty()) tag = attribute(scanner, "pt");
      sentence_.words.push_back({attribute(scanner, "word"), tag, attribute(scanner, "rel"), parent});
      if (sentence_.words.back().text.empty()) throw ReadError{"a node with an empty word", scanner.begin()};
      return no_constituent;
    }
    if (!has_children) {
      // A secondary node only points to its antecedent, which has the words.
      if (scanner.raw_attribute("index").data() == nullptr) {
        throw ReadError{"a node without word, children and index", scanner.begin()};
      }
      return no_constituent;
    }
    sentence_.nodes.push_back({attribute(scanner, "cat"), attribute(scanner, "rel"), parent});
    return static_cast<int>(sentence_.nodes.size()) - 1;
  }

  std::string_view attribute(const xml::Scanner& scanner, std::string_view name) {
    const std::string_view raw = scanner.raw_attribute(name);
    return xml::needs_unescaping(raw) ? sentence_.own(xml::unescaped(raw, scanner.begin())) : raw;
  }

  int number(const xml::Scanner& scanner, std::string_view name) {
    const std::string_view raw = scanner.raw_attribute(name);
    int value = -1;
    const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
    if (raw.empty() || error != std::errc{} || end != raw.data() + raw.size() || value < 0) {
      throw ReadError{"a word whose '" + std::string(name) + "' is not a number", scanner.begin()};
    }
    return value;
  }

  // Words stand in the file by their place in the tree; `begin` tells their place in the sentence.
  void order_words(std::size_t at) {
    order_.resize(begins_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<int>(i);
    std::ranges::stable_sort(order_, {}, [&](int i) { return begins_[i]; });
    ordered_.clear();
    for (std::size_t k = 0; k < order_.size(); ++k) {
      if (k > 0 && begins_[order_[k]] == begins_[order_[k - 1]]) {
        throw ReadError{"two words begin at " + std::to_string(begins_[order_[k]]), at};
      }
      ordered_.push_back(sentence_.words[order_[k]]);
    }
    sentence_.words.swap(ordered_);
  }

  std::string_view text_;
  ReadOptions options_;
  LineCounter lines_;
  ReadResult result_;
  // The first end tag of a sentence from some place on, once looked for.
  std::optional<std::size_t> next_close_;
  Sentence sentence_;
  std::vector<int> begins_, order_;
  std::vector<Word> ordered_;
  std::vector<Open> open_;
};

}  // namespace

ReadResult read_alpino(std::string_view text, const ReadOptions& options) {
  ReadResult result = AlpinoReader(text, options).read();
  if (options.known != nullptr) options.known->learn_from(result.columns);
  return result;
}

}  // namespace treemean
