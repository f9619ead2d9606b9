#include "plain_writers.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace treemean {
namespace {

std::string_view or_sign(std::string_view text, std::string_view sign) { return text.empty() ? sign : text; }

// Goes through the sentences of columns that are a treebank.
class Sentences {
 public:
  explicit Sentences(const WriterColumns& columns) : columns_(columns) {
    const auto& [word_offsets, constituent_offsets, bits] = columns.trees;
    if (const auto bad = find_invalid(columns.trees)) {
      throw std::invalid_argument("sentence " + std::to_string(bad->first) + ": " + bad->second);
    }
    const auto words = static_cast<std::size_t>(word_offsets.back());
    const auto constituents = static_cast<std::size_t>(constituent_offsets.back());
    for (const CodedView* column : {&columns.words, &columns.tags, &columns.word_functions}) {
      if (column->codes.size() != words) throw std::invalid_argument("columns of different lengths");
    }
    for (const CodedView* column : {&columns.labels, &columns.functions}) {
      if (column->codes.size() != constituents) throw std::invalid_argument("columns of different lengths");
    }
    rows_ = bits.data();
  }

  std::size_t count() const { return columns_.trees.word_offsets.size() - 1; }
  std::size_t number() const { return number_; }

  // Moves to the next sentence; false if there is none.
  bool next() {
    if (started_) {
      rows_ += static_cast<std::size_t>(m_) * width();
      ++number_;
    }
    started_ = true;
    if (number_ == count()) return false;
    const auto& [word_offsets, constituent_offsets, bits] = columns_.trees;
    first_word_ = static_cast<std::size_t>(word_offsets[number_]);
    first_constituent_ = static_cast<std::size_t>(constituent_offsets[number_]);
    n_ = static_cast<int>(word_offsets[number_ + 1] - word_offsets[number_]);
    m_ = static_cast<int>(constituent_offsets[number_ + 1] - constituent_offsets[number_]);
    return true;
  }

  int words() const { return n_; }
  int constituents() const { return m_; }
  std::size_t width() const { return (static_cast<std::size_t>(n_) + 63) / 64; }
  const std::uint64_t* row(int c) const { return rows_ + static_cast<std::size_t>(c) * width(); }
  std::size_t first_word() const { return first_word_; }
  std::size_t first_constituent() const { return first_constituent_; }

  std::string_view word(int p) const { return columns_.words.at(first_word_ + static_cast<std::size_t>(p)); }
  std::string_view tag(int p) const { return columns_.tags.at(first_word_ + static_cast<std::size_t>(p)); }
  std::string_view word_function(int p) const {
    return columns_.word_functions.at(first_word_ + static_cast<std::size_t>(p));
  }
  std::string_view label(int c) const {
    return columns_.labels.at(first_constituent_ + static_cast<std::size_t>(c));
  }
  std::string_view function(int c) const {
    return columns_.functions.at(first_constituent_ + static_cast<std::size_t>(c));
  }
  std::string_view function(const Child& child) const {
    return child.is_word ? word_function(child.index) : function(child.index);
  }
  std::string_view opening() const { return columns_.openings.at(number_); }
  std::string_view closing() const { return columns_.closings.at(number_); }

  bool same_words(int a, int b) const { return std::equal(row(a), row(a) + width(), row(b)); }

  // Whether the root is the one that readers add where there is none.
  bool has_virtual_root(std::string_view label_of_root, std::string_view no_function) const {
    return m_ > 0 && label(0) == label_of_root && function(0) == no_function &&
           (m_ == 1 || !same_words(0, 1));
  }

  // The continuous parts of a set, each from its first word up to the one behind its last.
  const std::vector<std::pair<int, int>>& spans(int c) {
    const std::uint64_t* bits = row(c);
    spans_.clear();
    std::size_t ended = 0;
    for (std::size_t k = 0; k < width(); ++k) {
      const std::uint64_t before = bits[k] << 1 | (k > 0 ? bits[k - 1] >> 63 : 0);
      const std::uint64_t after = bits[k] >> 1 | (k + 1 < width() ? bits[k + 1] << 63 : 0);
      const int offset = static_cast<int>(64 * k);
      for (std::uint64_t starts = bits[k] & ~before; starts != 0; starts &= starts - 1) {
        spans_.emplace_back(offset + std::countr_zero(starts), 0);
      }
      for (std::uint64_t ends = bits[k] & ~after; ends != 0; ends &= ends - 1) {
        spans_[ended++].second = offset + std::countr_zero(ends) + 1;
      }
    }
    return spans_;
  }

 private:
  const WriterColumns& columns_;
  const std::uint64_t* rows_ = nullptr;
  std::size_t number_ = 0, first_word_ = 0, first_constituent_ = 0;
  int n_ = 0, m_ = 0;
  bool started_ = false;
  std::vector<std::pair<int, int>> spans_;
};

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// Tabs from a text to the column after so many tab stops of 8.
void append_tabs(std::string& out, std::string_view text, std::size_t stops) {
  const std::size_t used = characters(text) / 8;
  out.append(used < stops ? stops - used : 1, '\t');
}

class ExportWriter {
 public:
  ExportWriter(const WriterColumns& columns, int version) : sentences_(columns), version_(version) {}

  Written write() {
    while (sentences_.next()) {
      out_ += sentences_.opening();
      write_tree();
      out_ += sentences_.closing();
    }
    return {std::move(out_), sentences_.count()};
  }

 private:
  void write_tree() {
    const int n = sentences_.words(), m = sentences_.constituents();
    shape_.find(n, m, sentences_.row(0));
    number_nodes(m);
    for (int p = 0; p < n; ++p) {
      write_row(sentences_.word(p), sentences_.tag(p), sentences_.word_function(p), shape_.word_parent(p));
    }
    for (const int c : order_) {
      name_ = '#';
      name_ += std::to_string(number_of_[static_cast<std::size_t>(c)]);
      write_row(name_, sentences_.label(c), sentences_.function(c), shape_.parent(c));
    }
  }

  // Numbers children before their parents, as annotators do: by height, and by first word.
  void number_nodes(int m) {
    constexpr int first_node = 500;
    const int written = sentences_.has_virtual_root("VROOT", "--") ? 1 : 0;
    heights_.assign(static_cast<std::size_t>(m), 1);
    for (int c = m - 1; c > 0; --c) {
      int& above = heights_[static_cast<std::size_t>(shape_.parent(c))];
      above = std::max(above, heights_[static_cast<std::size_t>(c)] + 1);
    }
    order_.resize(static_cast<std::size_t>(m - std::min(m, written)));
    std::iota(order_.begin(), order_.end(), written);
    std::ranges::stable_sort(order_, {}, [&](int c) { return heights_[static_cast<std::size_t>(c)]; });
    number_of_.assign(static_cast<std::size_t>(m), 0);
    for (std::size_t k = 0; k < order_.size(); ++k) {
      number_of_[static_cast<std::size_t>(order_[k])] = first_node + static_cast<int>(k);
    }
  }

  void write_row(std::string_view first, std::string_view label, std::string_view function, int parent) {
    out_ += first;
    append_tabs(out_, first, 3);
    if (version_ == 4) out_ += "--\t\t\t";
    out_ += label;
    append_tabs(out_, label, 1);
    out_ += "--\t\t";
    out_ += function;
    out_ += '\t';
    out_ += std::to_string(parent < 0 ? 0 : number_of_[static_cast<std::size_t>(parent)]);
    out_ += '\n';
  }

  Sentences sentences_;
  int version_;
  std::string out_, name_;
  Shape shape_;
  std::vector<int> heights_, order_, number_of_;
};

class ConlluWriter {
 public:
  explicit ConlluWriter(const WriterColumns& columns) : sentences_(columns) {}

  Written write() {
    while (sentences_.next()) {
      if (!find_dependencies()) return {std::move(out_), sentences_.number()};
      out_ += sentences_.opening();
      for (int p = 0; p < sentences_.words(); ++p) write_row(p);
      out_ += sentences_.closing();
    }
    return {std::move(out_), sentences_.count()};
  }

 private:
  static constexpr std::string_view head_sign = "\t";

  // The word at the head of something, and its relation to what is above.
  struct Head {
    int word = -1;
    std::string_view relation;
  };

  static std::string_view relation(std::string_view function) {
    return function == head_sign ? std::string_view{} : function;
  }

  Head head_of(const Child& child) const {
    return child.is_word ? Head{child.index, relation(sentences_.word_function(child.index))}
                         : lexical_[static_cast<std::size_t>(child.index)];
  }

  bool find_dependencies() {
    const int n = sentences_.words(), m = sentences_.constituents();
    shape_.find(n, m, sentences_.row(0));
    heads_.assign(static_cast<std::size_t>(n), 0);
    relations_.assign(static_cast<std::size_t>(n), {});
    lexical_.assign(static_cast<std::size_t>(m), {});
    for (int c = m - 1; c >= 0; --c) {  // children before parents
      const std::vector<Child>& children = shape_.children(c);
      const auto marks = [&](const Child& child) { return sentences_.function(child) == head_sign; };
      const auto marked = std::ranges::count_if(children, marks);
      if (marked > 1 || (marked == 0 && c > 0 && children.size() > 1)) return false;
      std::size_t head = children.size();
      if (marked == 1)
        head = static_cast<std::size_t>(std::ranges::find_if(children, marks) - children.begin());
      else if (c > 0) head = 0;
      const std::string_view own = relation(sentences_.function(c));
      int governor = 0;
      if (head < children.size()) {
        const Head found = head_of(children[head]);
        lexical_[static_cast<std::size_t>(c)] = {found.word, own.empty() ? found.relation : own};
        governor = found.word + 1;
      }
      for (std::size_t k = 0; k < children.size(); ++k) {
        if (k == head) continue;
        const Head dependent = head_of(children[k]);
        heads_[static_cast<std::size_t>(dependent.word)] = governor;
        relations_[static_cast<std::size_t>(dependent.word)] =
            dependent.relation.empty() && governor == 0 ? own : dependent.relation;
      }
    }
    if (m > 0 && lexical_[0].word >= 0) {
      relations_[static_cast<std::size_t>(lexical_[0].word)] = lexical_[0].relation;
    }
    return n > 0;
  }

  void write_row(int p) {
    out_ += std::to_string(p + 1);
    out_ += '\t';
    out_ += sentences_.word(p);
    out_ += "\t_\t";
    out_ += or_sign(sentences_.tag(p), "_");
    out_ += "\t_\t_\t";
    out_ += std::to_string(heads_[static_cast<std::size_t>(p)]);
    out_ += '\t';
    out_ += or_sign(relations_[static_cast<std::size_t>(p)], "_");
    out_ += "\t_\t_\n";
  }

  Sentences sentences_;
  std::string out_;
  Shape shape_;
  std::vector<int> heads_;
  std::vector<std::string_view> relations_;
  std::vector<Head> lexical_;
};

class TigerWriter {
 public:
  TigerWriter(const WriterColumns& columns, std::int64_t first) : sentences_(columns), number_(first) {}

  Written write() {
    for (; sentences_.next(); ++number_) {
      prefix_ = 's';
      prefix_ += std::to_string(number_);
      prefix_ += '_';
      out_ += sentences_.opening();
      write_graph();
      out_ += sentences_.closing();
    }
    return {std::move(out_), sentences_.count()};
  }

 private:
  void write_graph() {
    constexpr int usual_first = 500;
    const int n = sentences_.words(), m = sentences_.constituents();
    shape_.find(n, m, sentences_.row(0));
    const bool rooted = sentences_.has_virtual_root("\"VROOT\"", "\"--\"");
    first_node_ = std::max(usual_first, n + 1) - (rooted ? 1 : 0);
    bool gaps = false;
    for (int c = 0; c < m && !gaps; ++c) gaps = sentences_.spans(c).size() > 1;
    add({"<graph root=\"", prefix_, gaps ? "VROOT\" discontinuous=\"true\">\n" : "VROOT\">\n",
         "<terminals>\n"});
    for (int p = 0; p < n; ++p) {
      add({"<t id=\"", prefix_, std::to_string(p + 1), "\" word=", sentences_.word(p),
           " lemma=\"--\" pos=", sentences_.tag(p), " morph=\"--\"/>\n"});
    }
    out_ += "</terminals>\n<nonterminals>\n";
    for (int c = m - 1; c >= (rooted ? 1 : 0); --c) {
      add({"<nt id=\"", prefix_, std::to_string(first_node_ + c), "\" cat=", sentences_.label(c), ">\n"});
      for (const Child& child : shape_.children(c)) write_edge(child);
      out_ += "</nt>\n";
    }
    add({"<nt id=\"", prefix_, "VROOT\" cat=\"VROOT\">\n"});
    if (rooted) {
      for (const Child& child : shape_.children(0)) write_edge(child);
    } else {
      write_edge({false, 0});
    }
    out_ += "</nt>\n</nonterminals>\n</graph>\n";
  }

  void write_edge(const Child& child) {
    add({"<edge label=", sentences_.function(child), " idref=\"", prefix_,
         std::to_string(child.is_word ? child.index + 1 : first_node_ + child.index), "\"/>\n"});
  }

  void add(std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces) out_ += piece;
  }

  Sentences sentences_;
  std::int64_t number_;
  int first_node_ = 0;
  std::string out_, prefix_;
  Shape shape_;
};

class JsonlWriter {
 public:
  JsonlWriter(const WriterColumns& columns, const CodedView& values)
      : sentences_(columns), columns_(columns), values_(values) {
    if (values.codes.size() != columns.labels.codes.size()) {
      throw std::invalid_argument("columns of different lengths");
    }
  }

  Written write() {
    while (sentences_.next()) {
      out_ += sentences_.opening();
      write_texts("\"words\": [", columns_.words, true);
      write_texts(", \"tags\": [", columns_.tags, false);
      write_texts(", \"functions\": [", columns_.word_functions, false);
      for (int c = 0; c < sentences_.constituents(); ++c) write_constituent(c);
      if (sentences_.constituents() > 0) out_ += ']';
      out_ += sentences_.closing();
    }
    return {std::move(out_), sentences_.count()};
  }

 private:
  static constexpr std::string_view empty = "\"\"";

  void write_texts(std::string_view before, const CodedView& column, bool always) {
    const std::size_t begin = sentences_.first_word();
    const std::size_t end = begin + static_cast<std::size_t>(sentences_.words());
    bool some = always;
    for (std::size_t k = begin; !some && k < end; ++k) some = column.at(k) != empty;
    if (!some) return;
    out_ += before;
    for (std::size_t k = begin; k < end; ++k) {
      if (k > begin) out_ += ", ";
      out_ += column.at(k);
    }
    out_ += ']';
  }

  void write_constituent(int c) {
    out_ += c == 0 ? ", \"constituents\": [{\"spans\": [" : ", {\"spans\": [";
    std::string_view between = "[";
    for (const auto& [start, end] : sentences_.spans(c)) {
      out_ += between;
      out_ += std::to_string(start);
      out_ += ", ";
      out_ += std::to_string(end);
      out_ += ']';
      between = ", [";
    }
    out_ += ']';
    if (const std::string_view label = sentences_.label(c); label != empty) {
      out_ += ", \"label\": ";
      out_ += label;
    }
    if (const std::string_view function = sentences_.function(c); function != empty) {
      out_ += ", \"function\": ";
      out_ += function;
    }
    out_ += values_.at(sentences_.first_constituent() + static_cast<std::size_t>(c));
    out_ += '}';
  }

  Sentences sentences_;
  const WriterColumns& columns_;
  const CodedView& values_;
  std::string out_;
};

}  // namespace

std::string_view StringsView::at(std::size_t index) const {
  if (index + 1 >= offsets.size()) throw std::out_of_range("a text that is not there");
  const std::int64_t begin = offsets[index], end = offsets[index + 1];
  if (begin < 0 || end < begin || static_cast<std::size_t>(end) > data.size())
    throw std::out_of_range("a text outside the data");
  return {reinterpret_cast<const char*>(data.data()) + begin, static_cast<std::size_t>(end - begin)};
}

Written write_export(const WriterColumns& columns, int version) {
  return ExportWriter(columns, version).write();
}

Written write_conllu(const WriterColumns& columns) { return ConlluWriter(columns).write(); }

Written write_tiger(const WriterColumns& columns, std::int64_t first) {
  return TigerWriter(columns, first).write();
}

Written write_jsonl(const WriterColumns& columns, const CodedView& values) {
  return JsonlWriter(columns, values).write();
}

}  // namespace treemean
