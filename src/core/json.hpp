// Pieces of JSON: taking texts apart and putting them together as Python's json module does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace treemean::json {

// Appends a text in quotes, with the escapes of json.dumps(…, ensure_ascii=False).
void append_text(std::string& out, std::string_view text);

// Appends {"key": "value", …}; nothing if there are no pairs.
void append_object(std::string& out, const std::vector<std::pair<std::string_view, std::string_view>>& pairs);

// Takes one line of JSON apart, from left to right. Each function moves behind what it names and returns
// whether it was there; what is there but rare (half of a surrogate pair, long numbers) counts as absent.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end();
  // A sign such as { or ,
  bool sign(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  // A text; `raw` is what stands between the quotes, `escaped` tells whether it has escapes.
  bool text(std::string_view& raw, bool& escaped);
  // A whole number from 0 on of at most nine digits, without a point or an exponent.
  bool count(std::int64_t& number);
  // A number as short as those that programs write, null, or one of the texts for infinities, as it stands.
  bool value(std::string_view& token);

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Replaces the escapes of a text that `Scanner::text` found; false if a surrogate pair is not whole.
bool unescape(std::string_view raw, std::string& out);

}  // namespace treemean::json
