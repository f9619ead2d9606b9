#include "json.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "utf8.hpp"

namespace treemean::json {
namespace {

constexpr std::string_view hexadecimal = "0123456789abcdef";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// How many of the eight bytes at a place are neither a quote nor a backslash nor a control character, up to
// the first that is; 0 where the order of bytes does not allow to tell.
std::size_t plain_bytes(const char* place) {
  if constexpr (std::endian::native != std::endian::little) return 0;
  constexpr std::uint64_t ones = 0x0101010101010101u, highest = 0x8080808080808080u;
  std::uint64_t eight = 0;
  std::memcpy(&eight, place, sizeof eight);
  // The highest bit of every byte that is zero, or less than a bound; bytes behind the first one may be
  // wrong.
  const auto zero = [](std::uint64_t bytes) { return (bytes - ones) & ~bytes; };
  const std::uint64_t controls = (eight - ones * 0x20) & ~eight;
  const std::uint64_t found = (zero(eight ^ ones * '"') | zero(eight ^ ones * '\\') | controls) & highest;
  return found == 0 ? 8 : static_cast<std::size_t>(std::countr_zero(found)) / 8;
}

// Whether a token is a number that is neither too long nor too large for a double.
bool is_short_number(std::string_view token) {
  constexpr std::size_t longest = 25, longest_whole = 15, longest_exponent = 2;
  if (token.size() > longest) return false;
  std::size_t at = token.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < token.size() && is_digit(token[at])) ++at;
    return at - begin;
  };
  const bool zero = at < token.size() && token[at] == '0';
  const std::size_t whole = digits();
  if (whole == 0 || whole > longest_whole || (zero && whole > 1)) return false;
  if (at < token.size() && token[at] == '.') {
    ++at;
    if (digits() == 0) return false;
  }
  if (at < token.size() && (token[at] == 'e' || token[at] == 'E')) {
    ++at;
    if (at < token.size() && (token[at] == '+' || token[at] == '-')) ++at;
    const std::size_t exponent = digits();
    if (exponent == 0 || exponent > longest_exponent) return false;
  }
  return at == token.size();
}

// The four hexadecimal digits at a place, or -1.
std::int32_t four_digits(std::string_view raw, std::size_t at) {
  if (at + 4 > raw.size()) return -1;
  std::int32_t code = 0;
  for (const char c : raw.substr(at, 4)) {
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::size_t digit = hexadecimal.find(lower);
    if (digit == std::string_view::npos) return -1;
    code = 16 * code + static_cast<std::int32_t>(digit);
  }
  return code;
}

}  // namespace

void append_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (const auto byte = static_cast<unsigned char>(c); byte < 0x20) {
          out += "\\u00";
          out += hexadecimal[byte >> 4];
          out += hexadecimal[byte & 15];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

void append_object(std::string& out,
                   const std::vector<std::pair<std::string_view, std::string_view>>& pairs) {
  if (pairs.empty()) return;
  std::string_view before = "{";
  for (const auto& [key, value] : pairs) {
    out += before;
    append_text(out, key);
    out += ": ";
    append_text(out, value);
    before = ", ";
  }
  out += '}';
}

bool Scanner::at_end() {
  skip_blanks();
  return at_ == text_.size();
}

bool Scanner::text(std::string_view& raw, bool& escaped) {
  if (!sign('"')) return false;
  const std::size_t begin = at_;
  escaped = false;
  while (at_ < text_.size()) {
    if (at_ + 8 <= text_.size()) {
      const std::size_t plain = plain_bytes(text_.data() + at_);
      at_ += plain;
      if (plain == 8) continue;
    }
    const char c = text_[at_];
    if (c == '"') {
      raw = text_.substr(begin, at_ - begin);
      ++at_;
      return true;
    }
    if (static_cast<unsigned char>(c) < 0x20) return false;
    escaped |= c == '\\';
    at_ += c == '\\' ? 2 : 1;
  }
  return false;
}

bool Scanner::count(std::int64_t& number) {
  constexpr std::size_t longest = 9;
  skip_blanks();
  const std::size_t begin = at_;
  number = 0;
  for (; at_ < text_.size() && is_digit(text_[at_]); ++at_) {
    if (at_ - begin == longest) return false;
    number = 10 * number + (text_[at_] - '0');
  }
  const std::size_t digits = at_ - begin;
  if (digits == 0 || (digits > 1 && text_[begin] == '0')) return false;
  return at_ == text_.size() || (text_[at_] != '.' && text_[at_] != 'e' && text_[at_] != 'E');
}

bool Scanner::value(std::string_view& token) {
  skip_blanks();
  const std::size_t begin = at_;
  if (begin < text_.size() && text_[begin] == '"') {
    for (const std::string_view infinity : {"\"Infinity\"", "\"-Infinity\""}) {
      if (text_.substr(begin).starts_with(infinity)) {
        token = infinity;
        at_ += infinity.size();
        return true;
      }
    }
    return false;
  }
  at_ = std::min(text_.find_first_of(",}] \t\r", begin), text_.size());
  token = text_.substr(begin, at_ - begin);
  return token == "null" || is_short_number(token);
}

bool unescape(std::string_view raw, std::string& out) {
  constexpr std::string_view names = "\"\\/bfnrt", characters = "\"\\/\b\f\n\r\t";
  out.clear();
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      out += raw[i];
      continue;
    }
    if (++i == raw.size()) return false;
    if (const std::size_t name = names.find(raw[i]); name != std::string_view::npos) {
      out += characters[name];
      continue;
    }
    std::int32_t code = raw[i] == 'u' ? four_digits(raw, i + 1) : -1;
    if (code < 0) return false;
    i += 4;
    if (code >= 0xD800 && code < 0xE000) {
      const bool high = code < 0xDC00 && raw.substr(i + 1).starts_with("\\u");
      const std::int32_t low = high ? four_digits(raw, i + 3) : -1;
      if (low < 0xDC00 || low >= 0xE000) return false;
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(out, static_cast<std::uint32_t>(code));
  }
  return true;
}

}  // namespace treemean::json
