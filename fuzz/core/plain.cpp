// The readers of plain sentences: what they take are trees, and what they leave lies within the text.
#include "plain.hpp"

#include <cstdint>

#include "conllu.hpp"
#include "export.hpp"
#include "fuzzing.hpp"
#include "jsonl.hpp"
#include "tiger.hpp"

namespace {

using namespace treemean;

void check_plain(const PlainResult& result, std::size_t size) {
  fuzzing::check(result.consumed <= size);
  fuzzing::check(!find_invalid(fuzzing::trees_of(result.columns)));
  std::size_t behind = 0;
  for (const OddRecord& record : result.odd) {
    fuzzing::check(behind <= record.begin && record.begin <= record.end && record.end <= size);
    fuzzing::check(record.before <= result.columns.sentences());
    behind = record.end;
  }
  for (const NumberColumn& column : result.sentence_values)
    fuzzing::check(column.tokens.codes.size() == result.columns.sentences());
  for (const NumberColumn& column : result.constituent_values)
    fuzzing::check(column.tokens.codes.size() == result.columns.labels.codes.size());
}

void check_tiger(const TigerResult& result, std::size_t size) {
  check_plain(result.plain, size);
  std::size_t behind = 0, sentences = 0;
  for (const PlainRun& run : result.runs) {
    fuzzing::check(behind <= run.begin && run.begin < run.end && run.end <= result.plain.consumed);
    behind = run.end;
    sentences += run.sentences;
  }
  fuzzing::check(sentences == result.plain.columns.sentences());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses the format, so that the search can.
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const bool final : {false, true}) {
    Vocabularies known;
    switch (data[0] & 3) {
      case 0:
        check_plain(read_export(text, final, 0, known), text.size());
        break;
      case 1:
        check_plain(read_conllu(text, final, known), text.size());
        break;
      case 2:
        check_plain(read_jsonl(text, final, known), text.size());
        break;
      default:
        check_tiger(read_tiger(text, final, 0, known), text.size());
    }
  }
  return 0;
}
