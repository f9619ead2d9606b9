#include "columns.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace treemean {

namespace {

template <typename Number>
std::uint64_t loaded(const char* place) {
  Number number = 0;
  std::memcpy(&number, place, sizeof number);
  return number;
}

// Words, tags and labels are short: their first and last bytes are nearly all of them.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u, other = 0xD6E8FEB86659FD93u;
  const std::size_t size = text.size();
  const char* begin = text.data();
  std::uint64_t hash = (size + 1) * odd;
  const auto mix = [&](std::uint64_t part) {
    hash = (hash ^ part) * other;
    hash ^= hash >> 32;
  };
  if (size >= 8) {
    for (std::size_t at = 0; at + 8 < size; at += 8) mix(loaded<std::uint64_t>(begin + at));
    mix(loaded<std::uint64_t>(begin + size - 8));
  } else if (size >= 4) {
    mix(loaded<std::uint32_t>(begin) << 32 | loaded<std::uint32_t>(begin + size - 4));
  } else if (size > 0) {
    const auto byte = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(begin[at])}; };
    mix(byte(0) << 16 | byte(size / 2) << 8 | byte(size - 1));
  }
  return static_cast<std::uint32_t>(hash * odd >> 16);
}

// Whether two texts are the same; most are so short that a call of memcmp would take longer.
bool is_same(std::string_view a, std::string_view b) {
  const std::size_t size = a.size();
  if (size != b.size()) return false;
  const char *one = a.data(), *other = b.data();
  const auto equal_ends = [&]<typename Number>(Number /*of this type*/) {
    const std::size_t last = size - sizeof(Number);
    return loaded<Number>(one) == loaded<Number>(other) &&
           loaded<Number>(one + last) == loaded<Number>(other + last);
  };
  if (size > 16) return std::memcmp(one, other, size) == 0;
  if (size >= 8) return equal_ends(std::uint64_t{});
  if (size >= 4) return equal_ends(std::uint32_t{});
  if (size >= 2) return equal_ends(std::uint16_t{});
  return size == 0 || a.front() == b.front();
}

}  // namespace

void Strings::push(std::string_view text) {
  data.insert(data.end(), text.begin(), text.end());
  offsets.push_back(static_cast<std::int64_t>(data.size()));
}

void CodedStrings::push(std::string_view text) {
  // Whole columns are empty. Other texts repeat too seldom: a wrong guess of the processor costs more than
  // a hash.
  const bool repeated = text.empty() && !codes.empty() && at(codes.back()).empty();
  codes.push_back(repeated ? codes.back() : find_or_add(text));
}

std::string_view CodedStrings::at(std::int32_t code) const {
  const auto begin = static_cast<std::size_t>(vocabulary.offsets[code]);
  const auto end = static_cast<std::size_t>(vocabulary.offsets[code + 1]);
  return {reinterpret_cast<const char*>(vocabulary.data.data()) + begin, end - begin};
}

std::int32_t CodedStrings::find_or_add(std::string_view text) {
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot].code != Slot::free; slot = (slot + 1) & mask) {
    if (slots_[slot].hash == hash && is_same(at(slots_[slot].code), text)) return slots_[slot].code;
  }
  const std::size_t count = vocabulary.offsets.size() - 1;
  const auto code = static_cast<std::int32_t>(count);
  slots_[slot] = {hash, code};
  vocabulary.push(text);
  if (2 * (count + 1) > slots_.size()) grow();
  return code;
}

void CodedStrings::grow() {
  const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& taken : before) {
    if (taken.code == Slot::free) continue;
    std::size_t slot = taken.hash & mask;
    while (slots_[slot].code != Slot::free) slot = (slot + 1) & mask;
    slots_[slot] = taken;
  }
}

CodedStrings CodedStrings::without_codes() const {
  CodedStrings result;
  result.vocabulary = vocabulary;
  result.slots_ = slots_;
  return result;
}

void Vocabularies::lend_to(Columns& columns) {
  columns.words = std::move(words_);
  columns.tags = std::move(tags_);
  columns.word_functions = std::move(word_functions_);
  columns.labels = std::move(labels_);
  columns.functions = std::move(functions_);
}

void Vocabularies::learn_from(const Columns& columns) {
  constexpr std::size_t most_texts = std::size_t{1} << 16;
  const auto known = [](const CodedStrings& column) {
    return column.vocabulary.offsets.size() > most_texts ? CodedStrings{} : column.without_codes();
  };
  words_ = known(columns.words);
  tags_ = known(columns.tags);
  word_functions_ = known(columns.word_functions);
  labels_ = known(columns.labels);
  functions_ = known(columns.functions);
}

void Sentence::clear() {
  words.clear();
  nodes.clear();
  id = comment = metadata = {};
  owned.clear();
}

std::string Sentence::too_large(std::size_t depth) const {
  std::string why;
  if (words.size() > max_words) {
    why = "more than " + std::to_string(max_words) + " words";
  } else if (depth > max_depth + 2) {
    why = "constituents in more than " + std::to_string(max_depth) + " others";
  } else if (nodes.size() > max_nodes) {
    why = "more than " + std::to_string(max_nodes) + " constituents";
  } else if (nodes.size() > max_cells / std::max<std::size_t>(words.size(), 1)) {
    why = std::to_string(nodes.size()) + " constituents over " + std::to_string(words.size()) +
          " words, and their product may be " + std::to_string(max_cells) + " at most";
  }
  return why.empty() ? why : "the sentence is too large: " + why;
}

std::string_view Sentence::own(std::string text) { return owned.emplace_back(std::move(text)); }

void Columns::add(const Sentence& sentence, std::string_view root_label) {
  const int n = static_cast<int>(sentence.words.size());
  const int m = static_cast<int>(sentence.nodes.size());
  const std::size_t width = (static_cast<std::size_t>(n) + 63) / 64;

  masks_.assign(static_cast<std::size_t>(m) * width, 0);
  for (int p = 0; p < n; ++p) {
    if (const int parent = sentence.words[p].parent; parent != no_parent) {
      masks_[parent * width + p / 64] |= std::uint64_t{1} << (p % 64);
    }
  }
  for (int i = m - 1; i >= 0; --i) {  // children have larger indices than their parents
    if (const int parent = sentence.nodes[i].parent; parent != no_parent) {
      for (std::size_t k = 0; k < width; ++k) masks_[parent * width + k] |= masks_[i * width + k];
    }
  }

  order_.clear();
  first_.assign(m, 0);
  size_.assign(m, 0);
  bool rooted = false;
  for (int i = 0; i < m; ++i) {
    int size = 0, first = -1;
    for (std::size_t k = 0; k < width; ++k) {
      const std::uint64_t word = masks_[i * width + k];
      if (first < 0 && word) first = static_cast<int>(64 * k) + std::countr_zero(word);
      size += std::popcount(word);
    }
    first_[i] = first;
    size_[i] = size;
    if (size > 0) order_.push_back(i);
    rooted |= size == n;
  }
  const auto precedes = [&](int a, int b) {
    return first_[a] != first_[b] ? first_[a] < first_[b] : size_[a] > size_[b];
  };
  // Mostly they are in order already, and sorting asks for memory.
  if (!std::ranges::is_sorted(order_, precedes)) std::ranges::stable_sort(order_, precedes);

  if (!rooted && n > 0) {
    labels.push(root_label);
    functions.push({});
    for (std::size_t k = 0; k < width; ++k) {
      const bool partial = k + 1 == width && n % 64 != 0;
      bits.push_back(partial ? (std::uint64_t{1} << (n % 64)) - 1 : ~std::uint64_t{0});
    }
  }
  for (const int i : order_) {
    labels.push(sentence.nodes[i].label);
    functions.push(sentence.nodes[i].function);
    bits.insert(bits.end(), masks_.begin() + i * width, masks_.begin() + (i + 1) * width);
  }
  add_words(sentence);
}

void Columns::add_words(const Sentence& sentence) {
  // Column by column: each has a table of its own to look texts up in.
  for (const Word& word : sentence.words) words.push(word.text);
  for (const Word& word : sentence.words) tags.push(word.tag);
  for (const Word& word : sentence.words) word_functions.push(word.function);
  ids.push(sentence.id);
  comments.push(sentence.comment);
  metadata.push(sentence.metadata);
  word_offsets.push_back(static_cast<std::int64_t>(words.codes.size()));
  constituent_offsets.push_back(static_cast<std::int64_t>(labels.codes.size()));
}

bool is_valid_utf8(std::string_view text) {
  const auto* p = reinterpret_cast<const unsigned char*>(text.data());
  const auto* end = p + text.size();
  while (p < end) {
    if (*p < 0x80) {
      // Mostly ASCII: eight bytes at a time as long as none has its highest bit set.
      std::uint64_t eight = 0;
      while (end - p >= 8 && (std::memcpy(&eight, p, 8), (eight & 0x8080808080808080u) == 0)) p += 8;
      while (p < end && *p < 0x80) ++p;
      continue;
    }
    const int extra = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1;
    if (*p < 0xC2 || *p > 0xF4 || end - p <= extra) return false;
    for (int i = 1; i <= extra; ++i) {
      if ((p[i] & 0xC0) != 0x80) return false;
    }
    // Overlong forms, surrogates, and what lies beyond Unicode.
    if ((*p == 0xE0 && p[1] < 0xA0) || (*p == 0xED && p[1] > 0x9F)) return false;
    if ((*p == 0xF0 && p[1] < 0x90) || (*p == 0xF4 && p[1] > 0x8F)) return false;
    p += extra + 1;
  }
  return true;
}

}  // namespace treemean
