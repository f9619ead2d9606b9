#include "jsonl.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "json.hpp"
#include "validity.hpp"

namespace treemean {
namespace {

constexpr std::size_t most_names = 64;  // of numbers and of metadata; they are compared with each other

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

struct Span {
  std::int64_t start, end;
};

struct Item {
  std::string_view label, function;
  std::size_t spans = 0, values = 0;  // how many spans and values all items up to this one have
};

// Adds the numbers of one row to columns of which all have `rows` rows so far.
void add_values(std::vector<NumberColumn>& columns, std::size_t rows, Pairs::const_iterator begin,
                Pairs::const_iterator end) {
  for (auto pair = begin; pair != end; ++pair) {
    auto column = std::ranges::find(columns, pair->first, &NumberColumn::name);
    if (column == columns.end()) {
      column = columns.insert(columns.end(), {std::string(pair->first), {}});
      for (std::size_t row = 0; row < rows; ++row) column->tokens.push({});
    }
    column->tokens.push(pair->second);
  }
  for (NumberColumn& column : columns) {
    if (column.tokens.codes.size() == rows) column.tokens.push({});
  }
}

class JsonlReader {
 public:
  JsonlReader(std::string_view text, bool final, Vocabularies& known) : lines_(text, final) {
    known.lend_to(result_.columns);
  }

  PlainResult read() {
    while (!result_.full() && lines_.next()) {
      const Line& line = lines_.line();
      const bool blank = line.text.find_first_not_of(" \t\r\v\f") == std::string_view::npos;
      if (!blank && !read_line(line.text)) {
        result_.odd.push_back({line.begin, line.end, lines_.breaks_before(), result_.columns.sentences(), 0});
      }
      result_.consumed = line.next;
      result_.lines = lines_.breaks_after();
    }
    return std::move(result_);
  }

 private:
  bool read_line(std::string_view line) {
    sentence_.clear();
    words_.clear();
    tags_.clear();
    functions_.clear();
    metadata_.clear();
    values_.clear();
    items_.clear();
    spans_.clear();
    item_values_.clear();
    if (has_too_many_pieces(line, "[{,") || !is_valid_utf8(line)) return false;
    json::Scanner scanner(line);
    if (!read_object(scanner, sentence_keys, [&](std::size_t key) { return read_field(scanner, key); }) ||
        !scanner.at_end()) {
      return false;
    }
    return add_sentence();
  }

  // Reads an object with some keys, each at most once and the first one always.
  template <typename Read, std::size_t Count>
  bool read_object(json::Scanner& scanner, const std::array<std::string_view, Count>& keys, Read read) {
    unsigned seen = 0;
    if (!scanner.sign('{')) return false;
    do {
      std::string_view key;
      bool escaped = false;
      if (!scanner.text(key, escaped) || escaped || !scanner.sign(':')) return false;
      const std::size_t index = std::ranges::find(keys, key) - keys.begin();
      if (index == Count || (seen >> index & 1u) != 0 || !read(index)) return false;
      seen |= 1u << index;
    } while (scanner.sign(','));
    return (seen & 1u) != 0 && scanner.sign('}');
  }

  static constexpr std::array<std::string_view, 7> sentence_keys = {
      "words", "tags", "functions", "id", "constituents", "metadata", "values"};
  static constexpr std::array<std::string_view, 4> item_keys = {"spans", "label", "function", "values"};

  bool read_field(json::Scanner& scanner, std::size_t key) {
    switch (key) {
      case 0:
        return read_texts(scanner, words_);
      case 1:
        return read_texts(scanner, tags_) && !tags_.empty();
      case 2:
        return read_texts(scanner, functions_) && !functions_.empty();
      case 3:
        return read_text(scanner, sentence_.id);
      case 4:
        return read_list(scanner, [&] { return read_item(scanner); });
      case 5:
        return read_pairs(scanner, metadata_,
                          [&](std::string_view& value) { return read_text(scanner, value); });
      default:
        return read_pairs(scanner, values_, [&](std::string_view& value) { return scanner.value(value); });
    }
  }

  template <typename Read>
  bool read_list(json::Scanner& scanner, Read read) {
    if (!scanner.sign('[')) return false;
    if (scanner.sign(']')) return true;
    do {
      if (!read()) return false;
    } while (scanner.sign(','));
    return scanner.sign(']');
  }

  bool read_text(json::Scanner& scanner, std::string_view& text) {
    bool escaped = false;
    if (!scanner.text(text, escaped)) return false;
    if (!escaped) return true;
    if (!json::unescape(text, unescaped_)) return false;
    text = sentence_.own(unescaped_);
    return true;
  }

  bool read_texts(json::Scanner& scanner, std::vector<std::string_view>& texts) {
    return read_list(scanner, [&] { return read_text(scanner, texts.emplace_back()); });
  }

  // Reads an object of texts or of numbers, with any keys.
  template <typename Read>
  bool read_pairs(json::Scanner& scanner, Pairs& pairs, Read read) {
    const std::size_t begin = pairs.size();
    if (!scanner.sign('{')) return false;
    if (scanner.sign('}')) return true;
    do {
      std::string_view key, value;
      if (!read_text(scanner, key) || !scanner.sign(':') || !read(value)) return false;
      const Pairs::const_iterator first = pairs.begin() + static_cast<std::ptrdiff_t>(begin);
      if (pairs.size() - begin == most_names ||
          std::any_of(first, pairs.cend(), [&](const auto& pair) { return pair.first == key; })) {
        return false;
      }
      pairs.emplace_back(key, value);
    } while (scanner.sign(','));
    return scanner.sign('}');
  }

  bool read_item(json::Scanner& scanner) {
    Item item;
    const auto read_span = [&] {
      Span span{};
      if (!scanner.sign('[') || !scanner.count(span.start) || !scanner.sign(',') || !scanner.count(span.end))
        return false;
      spans_.push_back(span);
      return scanner.sign(']');
    };
    const auto read_key = [&](std::size_t key) {
      switch (key) {
        case 0:
          return read_list(scanner, read_span);
        case 1:
          return read_text(scanner, item.label);
        case 2:
          return read_text(scanner, item.function);
        default:
          return read_pairs(scanner, item_values_,
                            [&](std::string_view& value) { return scanner.value(value); });
      }
    };
    if (!read_object(scanner, item_keys, read_key)) return false;
    item.spans = spans_.size();
    item.values = item_values_.size();
    items_.push_back(item);
    return true;
  }

  bool add_sentence() {
    const std::size_t n = words_.size(), m = items_.size();
    if (m > max_depth) return false;  // they may stand in too many others: Python looks how many
    if ((!tags_.empty() && tags_.size() != n) || (!functions_.empty() && functions_.size() != n))
      return false;
    sentence_.nodes.resize(m);
    for (std::size_t p = 0; p < n; ++p) {
      sentence_.words.push_back({words_[p], tags_.empty() ? std::string_view{} : tags_[p],
                                 functions_.empty() ? std::string_view{} : functions_[p], no_parent});
    }
    if (!sentence_.too_large().empty() || !make_masks(n)) return false;
    if (!fits(values_, result_.sentence_values) || !fits(item_values_, result_.constituent_values))
      return false;
    const auto width = (n + 63) / 64;
    order_.resize(m);
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    const auto precedes = [&](std::size_t a, std::size_t b) {
      return firsts_[a] != firsts_[b] ? firsts_[a] < firsts_[b] : sizes_[a] > sizes_[b];
    };
    if (std::ranges::is_sorted(order_, precedes)) {  // as programs write them
      rows_.swap(masks_);
    } else {
      std::ranges::stable_sort(order_, precedes);
      rows_.clear();
      for (const std::size_t i : order_) {
        rows_.insert(rows_.end(), masks_.begin() + static_cast<std::ptrdiff_t>(i * width),
                     masks_.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
      }
    }
    if (!fault_of_tree(static_cast<std::int64_t>(n), static_cast<std::int64_t>(m), rows_.data(), owner_)
             .empty())
      return false;
    add_constituents();
    add_values(result_.sentence_values, result_.columns.sentences(), values_.begin(), values_.end());
    metadata_text_.clear();
    json::append_object(metadata_text_, metadata_);
    sentence_.metadata = metadata_text_;
    result_.columns.add_words(sentence_);
    return true;
  }

  // Whether there are not too many names with those of this sentence, each of which becomes a column.
  bool fits(const Pairs& values, const std::vector<NumberColumn>& columns) {
    fresh_.clear();
    for (const auto& [name, value] : values) {
      if (std::ranges::find(columns, name, &NumberColumn::name) != columns.end()) continue;
      if (std::ranges::find(fresh_, name) != fresh_.end()) continue;
      fresh_.push_back(name);
      if (columns.size() + fresh_.size() > most_names) return false;
    }
    return true;
  }

  void add_constituents() {
    Columns& columns = result_.columns;
    for (const std::size_t i : order_) {
      const auto begin =
          item_values_.begin() + static_cast<std::ptrdiff_t>(i == 0 ? 0 : items_[i - 1].values);
      const auto end = item_values_.begin() + static_cast<std::ptrdiff_t>(items_[i].values);
      add_values(result_.constituent_values, columns.labels.codes.size(), begin, end);
      columns.labels.push(items_[i].label);
      columns.functions.push(items_[i].function);
    }
    columns.bits.insert(columns.bits.end(), rows_.begin(), rows_.end());
  }

  // Fills the sets from their spans; false if those do not ascend within the sentence.
  bool make_masks(std::size_t n) {
    const std::size_t width = (n + 63) / 64;
    masks_.assign(items_.size() * width, 0);
    firsts_.clear();
    sizes_.clear();
    std::size_t k = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (k == items_[i].spans) return false;
      firsts_.push_back(spans_[k].start);
      std::int64_t end = 0, size = 0;
      for (; k < items_[i].spans; ++k) {
        const Span& span = spans_[k];
        if (span.start < end || span.end <= span.start || span.end > static_cast<std::int64_t>(n))
          return false;
        fill(&masks_[i * width], span);
        end = span.end;
        size += span.end - span.start;
      }
      sizes_.push_back(size);
    }
    return true;
  }

  static void fill(std::uint64_t* row, const Span& span) {
    for (std::int64_t p = span.start; p < span.end;) {
      const std::int64_t stop = std::min(span.end, (p / 64 + 1) * 64);
      const std::uint64_t ones = stop - p == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (stop - p)) - 1;
      row[p / 64] |= ones << (p % 64);
      p = stop;
    }
  }

  Lines lines_;
  PlainResult result_;
  Sentence sentence_;
  std::vector<std::string_view> words_, tags_, functions_, fresh_;
  Pairs metadata_, values_, item_values_;
  std::vector<Item> items_;
  std::vector<Span> spans_;
  std::vector<std::uint64_t> masks_, rows_;
  std::vector<std::int64_t> firsts_, sizes_, owner_;
  std::vector<std::size_t> order_;
  std::string unescaped_, metadata_text_;
};

}  // namespace

PlainResult read_jsonl(std::string_view text, bool final, Vocabularies& known) {
  PlainResult result = JsonlReader(text, final, known).read();
  known.learn_from(result.columns);
  return result;
}

}  // namespace treemean
