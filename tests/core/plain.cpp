// The readers and writers of plain sentences.
#include "plain.hpp"

#include <string>

#include "check.hpp"
#include "conllu.hpp"
#include "export.hpp"
#include "json.hpp"
#include "jsonl.hpp"
#include "plain_writers.hpp"
#include "shape.hpp"
#include "tiger.hpp"

namespace {

using namespace treemean;
using namespace std::string_literals;

// The sentences of one tree: words and tags, labels and their bits.
std::string shown(const Columns& columns) {
  const auto at = [](const CodedStrings& strings, std::size_t index) {
    return std::string(
        CodedView{strings.codes, strings.vocabulary.data, strings.vocabulary.offsets}.at(index));
  };
  std::string out;
  for (std::size_t i = 0; i < columns.words.codes.size(); ++i) {
    out += at(columns.words, i) + "/" + at(columns.tags, i) + "/" + at(columns.word_functions, i) + " ";
  }
  for (std::size_t i = 0; i < columns.labels.codes.size(); ++i) {
    out +=
        at(columns.labels, i) + "/" + at(columns.functions, i) + "=" + std::to_string(columns.bits[i]) + " ";
  }
  return out;
}

constexpr std::string_view export_text =
    "#FORMAT 3\n#BOS 7 0 0 0\nWake VB -- HD 500\nyour PRP -- -- 501\nfriend NN -- -- 501\nup RP -- PRT 500\n"
    "#500 VP -- -- 502\n#501 NP -- OBJ 502\n#502 S -- -- 0\n#EOS 7\n";
constexpr std::string_view wake = "Wake/VB/HD your/PRP/ friend/NN/ up/RP/PRT S/=15 VP/=9 NP/OBJ=6 ";

TEST(nodes_are_put_parents_first) {
  Sentence sentence;
  sentence.words = {{"a", {}, {}, 0}, {"b", {}, {}, 1}};
  sentence.nodes = {{"low", {}, 2}, {"lower", {}, 0}, {"top", {}, no_parent}};
  ParentsFirst order;
  CHECK(order.arrange(sentence));
  CHECK(sentence.nodes[0].label == "top" && sentence.nodes[1].parent == 0 && sentence.nodes[2].parent == 1);
  CHECK(sentence.words[0].parent == 1 && sentence.words[1].parent == 2);
  sentence.nodes[0].parent = 2;
  CHECK(!order.arrange(sentence));  // a circle
  sentence.nodes = {{"empty", {}, no_parent}};
  sentence.words = {{"a", {}, {}, no_parent}};
  CHECK(!order.arrange(sentence));
}

TEST(export_is_read_where_it_is_plain) {
  Vocabularies known;
  const PlainResult result = read_export(export_text, true, 0, known);
  CHECK(result.odd.empty() && result.consumed == export_text.size() && result.lines == 10);
  CHECK(result.state == 3 && shown(result.columns) == wake);
  const std::string twice = "#BOS 1\na X -- -- 500\n#500 S -- -- 0\n#500 S -- -- 0\n#EOS 1\n";
  const PlainResult odd = read_export(twice, true, 3, known);
  CHECK(odd.columns.sentences() == 0 && odd.odd.size() == 1 && odd.odd[0].end + 1 == twice.size());
  CHECK(odd.odd[0].state == 3 && odd.odd[0].line == 0);
  const PlainResult waiting = read_export(export_text.substr(0, 60), false, 0, known);
  CHECK(waiting.columns.sentences() == 0 && waiting.odd.empty() && waiting.consumed == 10);
}

TEST(vocabularies_go_on_from_block_to_block) {
  Vocabularies known;
  const PlainResult first = read_export(export_text, true, 0, known);
  const PlainResult second = read_export("#BOS 1\nnew X -- -- 0\nup RP -- -- 0\n#EOS 1\n", true, 3, known);
  CHECK(second.columns.words.codes.size() == 2 && second.columns.words.codes[0] == 4);
  CHECK(second.columns.words.codes[1] == first.columns.words.codes[3]);
}

TEST(conllu_makes_constituents_of_heads) {
  Vocabularies known;
  const std::string text =
      "# sent_id = x\n# text = a \"b\"\n1\ta\t_\tX\t_\t_\t3\tdep\t_\t_\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"
      "2\tb\t_\t_\tY\t_\t0\troot\t_\t_\n3\tc\t_\tZ\t_\t_\t2\tobj\t_\t_\n\n";
  const PlainResult result = read_conllu(text, true, known);
  CHECK(result.odd.empty() && shown(result.columns) == "a/X/dep b/Y/head c/Z/head Y/root=7 Z/obj=5 ");
  const auto& metadata = result.columns.metadata;
  CHECK(std::string(metadata.data.begin(), metadata.data.end()) == R"({"text": "a \"b\""})");
  const PlainResult circle = read_conllu("1\ta\t_\tX\t_\t_\t1\tdep\t_\t_\n", true, known);
  CHECK(circle.columns.sentences() == 0 && circle.odd.size() == 1);
}

TEST(json_is_taken_apart_to_the_letter) {
  std::string out;
  CHECK(json::unescape(R"(\u00e9\ud83d\ude00\n\/)", out) && out == "é\xF0\x9F\x98\x80\n/");
  CHECK(!json::unescape(R"(\ud83d)", out) && !json::unescape(R"(\x)", out) && !json::unescape("\\", out));
  for (const char* good : {"0", "-1", "1.5", "1e5", "0.25E-3", "null", "\"-Infinity\""}) {
    std::string_view token;
    CHECK(json::Scanner(good).value(token) && token == good);
  }
  for (const char* bad :
       {"", "01", "1.", "1e", "1e999", "+1", "nul", "true", "12345678901234567890", "\"x\""}) {
    std::string_view token;
    CHECK(!json::Scanner(bad).value(token));
  }
  const std::vector<std::pair<std::string_view, std::int64_t>> counts{
      {"0", 0}, {" 7,", 7}, {"120 ", 120}, {"999999999]", 999999999}};
  for (const auto& [good, value] : counts) {
    std::int64_t number = -1;
    CHECK(json::Scanner(good).count(number) && number == value);
  }
  for (const std::string_view bad : {"", "-1", "01", "1.", "1e2", "1234567890", "99999999999999999999999"}) {
    std::int64_t number = 0;
    CHECK(!json::Scanner(bad).count(number));
  }
  std::string quoted;
  json::append_text(quoted, "a\"\\\n\x01\x7f"s);
  CHECK(quoted == "\"a\\\"\\\\\\n\\u0001\x7f\"");
}

TEST(jsonl_is_read_where_it_is_plain) {
  Vocabularies known;
  const std::string text =
      R"({"words": ["a", "b\u0021"], "constituents": [{"spans": [[1, 2]], "label": "X", "values": {"p": 0.5}},)"
      R"( {"spans": [[0, 2]], "function": "f"}], "values": {"n": 3}})"
      "\n{\"words\": 1}\n";
  const PlainResult result = read_jsonl(text, true, known);
  CHECK(result.odd.size() == 1 && result.odd[0].before == 1 && result.odd[0].line == 1);
  CHECK(shown(result.columns) == "a// b!// /f=3 X/=2 ");
  CHECK(result.constituent_values.size() == 1 && result.constituent_values[0].tokens.codes.size() == 2);
  CHECK(result.sentence_values.size() == 1 && result.sentence_values[0].name == "n");
}

TEST(tiger_sentences_are_taken_out) {
  Vocabularies known;
  const std::string sentence =
      "<s id=\"1\"><graph root=\"s1_VROOT\"><terminals><t id=\"a\" word=\"x&amp;\" pos=\"P\"/>"
      "<t id=\"b\" word=\"y\"/></terminals><nonterminals><nt id=\"s1_VROOT\" cat=\"VROOT\"><edge "
      "idref=\"n\"/>"
      "</nt><nt id=\"n\" cat=\"S\"><edge label=\"HD\" idref=\"a\"/><edge idref=\"b\"/></nt></nonterminals>"
      "</graph></s>";
  const std::string text =
      "<corpus><!-- <s> --><body>" + sentence + "\n" + sentence + "<x/><s id='&x;'/></body>";
  const TigerResult result = read_tiger(text, true, 0, known);
  CHECK(result.runs.size() == 1 && result.runs[0].sentences == 2);
  CHECK(text.substr(result.runs[0].begin, sentence.size()) == sentence);
  CHECK(shown(result.plain.columns).starts_with("x&/P/HD y// x&/P/HD y// S/=3 S/=3 "));
  const TigerResult part = read_tiger(text.substr(0, 100), false, 0, known);
  CHECK(part.runs.empty() && part.plain.consumed == text.find("<s id"));
  CHECK(read_tiger("<a><![CDATA[", true, 0, known).plain.state == -1);
  CHECK(read_tiger("<s><t:s>", true, 0, known).plain.state == 2);
}

TEST(columns_that_are_no_trees_are_not_written) {
  const std::vector<std::int64_t> words{0, 2}, one{0, 1};
  const std::vector<std::uint64_t> bad{0b01};
  const WriterColumns columns{{words, one, bad}, {}, {}, {}, {}, {}, {}, {}};
  CHECK_THROWS(std::invalid_argument, write_export(columns, 3));
  const std::vector<std::uint64_t> good{0b11};
  const WriterColumns short_ones{{words, one, good}, {}, {}, {}, {}, {}, {}, {}};
  CHECK_THROWS(std::invalid_argument, write_conllu(short_ones));
}

}  // namespace
