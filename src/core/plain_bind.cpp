#include "plain_bind.hpp"

#include <nanobind/stl/tuple.h>

#include <string_view>
#include <tuple>
#include <utility>

#include "conllu.hpp"
#include "export.hpp"
#include "jsonl.hpp"
#include "plain_writers.hpp"
#include "python_columns.hpp"
#include "tiger.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treemean {
namespace {

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }

nb::dict to_python(std::vector<NumberColumn> columns) {
  nb::dict result;
  for (NumberColumn& column : columns) {
    const nb::str name(column.name.data(), column.name.size());  // it may have zero bytes
    result[name] = to_python(std::move(column.tokens));
  }
  return result;
}

nb::tuple to_python(PlainResult&& result) {
  nb::list odd;
  for (const OddRecord& record : result.odd) {
    odd.append(nb::make_tuple(record.begin, record.end, record.line, record.before, record.state));
  }
  return nb::make_tuple(to_python(std::move(result.columns)), result.consumed, result.lines, odd,
                        result.state, to_python(std::move(result.sentence_values)),
                        to_python(std::move(result.constituent_values)));
}

using Offsets = Column<std::int64_t>;
using Bytes = Column<std::uint8_t>;
using Trees = std::tuple<Offsets, Offsets, Column<std::uint64_t>>;
using Texts = std::tuple<Column<std::int32_t>, Bytes, Offsets>;
using Plain = std::tuple<Bytes, Offsets>;
// Trees; words, tags and functions of words, labels and functions; what stands before and after each
// sentence.
using Batch = std::tuple<Trees, Texts, Texts, Texts, Texts, Texts, Plain, Plain>;

CodedView view(const Texts& texts) {
  const auto& [codes, data, offsets] = texts;
  return {span_of(codes), span_of(data), span_of(offsets)};
}

StringsView view(const Plain& texts) { return {span_of(std::get<0>(texts)), span_of(std::get<1>(texts))}; }

WriterColumns view(const Batch& batch) {
  const auto& [trees, words, tags, word_functions, labels, functions, openings, closings] = batch;
  const auto& [word_offsets, constituent_offsets, bits] = trees;
  return {{span_of(word_offsets), span_of(constituent_offsets), span_of(bits)},
          view(words),
          view(tags),
          view(word_functions),
          view(labels),
          view(functions),
          view(openings),
          view(closings)};
}

nb::tuple to_python(const Written& written) {
  return nb::make_tuple(nb::bytes(written.text.data(), written.text.size()), written.sentences);
}

template <typename Read>
auto without_gil(Read read) {
  const nb::gil_scoped_release released;
  return read();
}

}  // namespace

void bind_plain(nb::module_& m) {
  m.def(
      "read_export",
      [](const nb::bytes& text, bool final, int state, Vocabularies& known) {
        return to_python(without_gil([&] { return read_export(view(text), final, state, known); }));
      },
      "text"_a, "final"_a, "state"_a, "known"_a,
      "Read the plain sentences of a piece of text: (columns, bytes consumed, lines consumed, records that "
      "are "
      "left to Python as (begin, end, line, sentences before, state), state, values of sentences, of "
      "constituents).");
  m.def(
      "read_conllu",
      [](const nb::bytes& text, bool final, int, Vocabularies& known) {
        return to_python(without_gil([&] { return read_conllu(view(text), final, known); }));
      },
      "text"_a, "final"_a, "state"_a, "known"_a, "Read plain sentences as read_export does.");
  m.def(
      "read_jsonl",
      [](const nb::bytes& text, bool final, int, Vocabularies& known) {
        return to_python(without_gil([&] { return read_jsonl(view(text), final, known); }));
      },
      "text"_a, "final"_a, "state"_a, "known"_a, "Read plain sentences as read_export does.");
  m.def(
      "read_tiger",
      [](const nb::bytes& text, bool final, int state, Vocabularies& known) {
        TigerResult result = without_gil([&] { return read_tiger(view(text), final, state, known); });
        nb::list runs;
        for (const PlainRun& run : result.runs)
          runs.append(nb::make_tuple(run.begin, run.end, run.sentences));
        return nb::make_tuple(to_python(std::move(result.plain.columns)), result.plain.consumed, runs,
                              result.plain.state);
      },
      "text"_a, "final"_a, "state"_a, "known"_a,
      "Take the plain sentences out of a piece of TIGER XML: (columns, bytes consumed, runs of sentences as "
      "(begin, end, how many), state).");
  m.def(
      "write_export",
      [](const Batch& batch, int version) {
        return to_python(without_gil([&] { return write_export(view(batch), version); }));
      },
      "batch"_a, "version"_a, "Return trees in the export format, and how many they are.");
  m.def(
      "write_conllu",
      [](const Batch& batch) { return to_python(without_gil([&] { return write_conllu(view(batch)); })); },
      "batch"_a, "Return the trees before the first one that CoNLL-U cannot express, and how many they are.");
  m.def(
      "write_tiger",
      [](const Batch& batch, std::int64_t first) {
        return to_python(without_gil([&] { return write_tiger(view(batch), first); }));
      },
      "batch"_a, "first"_a, "Return trees as sentences of TIGER XML, and how many they are.");
  m.def(
      "write_jsonl",
      [](const Batch& batch, const Texts& values) {
        return to_python(without_gil([&] { return write_jsonl(view(batch), view(values)); }));
      },
      "batch"_a, "values"_a, "Return trees as JSON Lines, and how many they are.");
}

}  // namespace treemean
