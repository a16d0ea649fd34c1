#include "core/moves/group_gains.hpp"

#include <bit>

#include "core/layouts/line_sums.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

const GroupGains& GroupGains::of(Centers& centers, bool signed_rows) {
  const auto* found = centers.find<GroupGains>();
  if (found && (found->signed_rows() || !signed_rows)) return *found;
  return centers.attach(std::make_unique<GroupGains>(centers, signed_rows));
}

GroupGains::GroupGains(const Centers& centers, bool signed_rows)
    : groups_(centers.size(), /*dense=*/false),
      signed_rows_(signed_rows),
      n_frequent_(centers.n_frequent()),
      line_size_(index(n_frequent_) * kCacheLineShorts),
      numbers_(line_size_ * index(one_line() ? 1 : 2 * groups_.n_bound_blocks())),
      written_(index(n_frequent_ / kRange + 1)),
      words_(index(n_frequent_ + 63) / 64),
      present_(words_ * index(centers.size())),
      all_present_(index(centers.size())),
      rare_gain_(index(centers.n_features() - n_frequent_)),
      rare_loss_(rare_gain_.size()),
      left_out_of_gain_(index(centers.size())),
      left_out_of_loss_(index(centers.size())) {}

// ‖m‖ of any lane, or more: ‖m‖² is at most the sum over all centers that write into the lane, and
// no center adds more than the square of the largest rise or fall.
double GroupGains::longest() const {
  const int loss_lanes = kCacheLineShorts - groups_.count();
  const int groups_of_lane = one_line() ? (groups_.count() + loss_lanes - 1) / loss_lanes : 1;
  return std::sqrt(static_cast<double>(groups_of_lane * groups_.group_size())) * largest_;
}

void GroupGains::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  std::vector<MovedCenter> all(all_present_.size());
  largest_ = 0.0;
  for (int j = 0; j < centers.size(); ++j) {
    const MovedCenter center = all[index(j)] = moved_center(centers, changes[index(j)], j);
    tell_nothing(j);
    if (!center.told) continue;
    left_out_of_gain_[index(j)] = left_out(center, center.move->growth());
    left_out_of_loss_[index(j)] = left_out(center, -center.move->growth());
    largest_ =
        std::max({largest_, center.move->rise(!signed_rows_), center.move->fall(!signed_rows_)});
  }
  const double per_cosine = kLongest / longest();
  factor_ = static_cast<float>(kCosineUnits / (kRowMultiplier * per_cosine) * (1.0 + 0x1p-20));
  parallel_chunks(n_frequent_, kRange, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    clear(begin, end);
    for (int j = 0; j < centers.size(); ++j) {
      if (all[index(j)].change) write(j, all[index(j)], per_cosine, begin, end);
    }
  });
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (all[j].change) all_present_[j] |= all[j].replaced() || all[j].in_full;
  }
  write_rare(all);
}

GroupGains::MovedCenter GroupGains::moved_center(const Centers& centers, const SumChange& change,
                                                 int j) const {
  const CenterMove& move = centers.last_move(j);
  if (!move.moved()) return {};
  MovedCenter center{&change, &move, centers.sums().frequent(j)};
  // For rows without negative values, growth · cosine is a bound on what unchanged features add to
  // the cosine, as long as no sum is below zero.
  center.told = move.kind == CenterMove::Kind::changed && (signed_rows_ || !move.negative);
  center.in_full = center.told && std::abs(move.growth()) > kSmallGrowth;
  return center;
}

// What is left out of the gain of a center that grew by this, or of the loss of one that shrank.
GroupGains::LeftOut GroupGains::left_out(const MovedCenter& center, double growth) const {
  const CenterMove& move = *center.move;
  const auto slack = [&](double length) {  // rounded up
    return outward_chord(std::abs(move.scale - move.scale_before) * length, 0);
  };
  const double length = center.in_full ? move.length_rare : move.length_unchanged_or_rare;
  if (signed_rows_) return {slack(length), 0.0};
  if (growth <= 0.0) return {0.0, 0.0};
  if (center.in_full) return {slack(length), 0.0};
  return {0.0, growth * (1.0 + 0x1p-40)};
}

void GroupGains::clear(std::int64_t begin, std::int64_t end) {
  char& written = written_[index(begin / kRange)];
  if (!written) return;
  for (std::size_t line = 0; line < numbers_.size(); line += line_size_) {
    std::fill_n(numbers_.data() + line + begin * kCacheLineShorts, (end - begin) * kCacheLineShorts,
                std::int16_t{0});
  }
  written = 0;
}

// Writes what one center has gained and lost in one feature into the lanes of its group.
class GroupGains::Writer {
 public:
  Writer(GroupGains& gains, int group, double per_cosine)
      : gained_(lane(gains, group / kCacheLineShorts, group % kCacheLineShorts)),
        lost_(lane(gains, gains.loss_number(group / kCacheLineShorts), gains.loss_lane(group))),
        per_cosine_(per_cosine),
        both_(gains.signed_rows_) {}

  void write(std::int64_t feature, double change) const {
    // Cut off to a whole number below; 1 more is rounded up.
    const double size = change == 0.0 ? 0.0 : std::abs(change) * per_cosine_ + 1.0;
    // Without a branch by the sign, which would be mispredicted too often.
    raise(change > 0.0 ? gained_ : lost_, feature, size);
    if (both_) raise(change > 0.0 ? lost_ : gained_, feature, size);
  }

 private:
  static std::int16_t* lane(GroupGains& gains, int line, int lane) {
    return gains.numbers_.data() + index(line) * gains.line_size_ +
           line_position(lane, kCacheLineShorts);
  }
  static void raise(std::int16_t* lane, std::int64_t feature, double size) {
    std::int16_t& number = lane[feature * kCacheLineShorts];
    number = std::max(number, static_cast<std::int16_t>(size));
  }
  std::int16_t* gained_;
  std::int16_t* lost_;
  double per_cosine_;
  bool both_;
};

// Writes what a center has gained and lost in a range of features: in all features that it has, or
// in those whose sums changed. Notes which features it has, which costs less than to look for them.
void GroupGains::write(int j, const MovedCenter& center, double per_cosine, std::int64_t begin,
                       std::int64_t end) {
  const CenterMove& move = *center.move;
  const bool tell = center.told && known();
  const Writer writer(*this, groups_.of(j), per_cosine);
  std::uint64_t* present = present_.data() + index(j) * words_;
  const std::int64_t first = begin / 64, last = (end + 63) / 64;
  // The change of a center that was replaced has all its features.
  if (center.replaced()) std::fill(present + first, present + last, 0);
  if (center.in_full && !all_present_[index(j)]) {
    for (std::int64_t f = begin; f < end; ++f) {
      present[f / 64] |= std::uint64_t{center.sums[f] != 0} << (f % 64);
    }
  }
  std::uint64_t unchanged[kRange / 64];  // features that it has and whose sums did not change
  std::copy(present + first, present + last, unchanged);

  const std::int32_t* features = center.change->features.data();
  const auto* end_of_change = features + center.change->size();
  const auto* at = std::lower_bound(features, end_of_change, static_cast<std::int32_t>(begin));
  if (center.in_full || (tell && at != end_of_change && *at < end)) {
    written_[index(begin / kRange)] = 1;
  }
  for (; at != end_of_change && *at < end; ++at) {
    present[*at / 64] |= std::uint64_t{1} << (*at % 64);
    unchanged[*at / 64 - first] &= ~(std::uint64_t{1} << (*at % 64));
    if (!tell) continue;
    const std::int64_t now = center.sums[*at];
    const std::int64_t before = now - center.change->values[index(at - features)];
    writer.write(*at, static_cast<double>(now) * move.scale -
                          static_cast<double>(before) * move.scale_before);
  }
  if (!tell || !center.in_full) return;
  for (std::int64_t w = first; w < last; ++w) {
    for (std::uint64_t bits = unchanged[w - first]; bits != 0; bits &= bits - 1) {
      const std::int64_t feature = 64 * w + std::countr_zero(bits);
      writer.write(feature,
                   static_cast<double>(center.sums[feature]) * (move.scale - move.scale_before));
    }
  }
}

// now · scale − before · scale_before = (now − before) · scale + before · (scale − scale_before).
// Only the first term is written: the second one is in what is `left_out` of the center.
void GroupGains::write_rare(const std::vector<MovedCenter>& centers) {
  for (const std::int32_t feature : rare_written_) {
    rare_gain_[index(feature - n_frequent_)] = rare_loss_[index(feature - n_frequent_)] = 0.0F;
  }
  rare_written_.clear();
  for (const MovedCenter& center : centers) {
    if (!center.told) continue;
    for (std::size_t e = center.change->size(); e-- > 0;) {
      const std::int32_t feature = center.change->features[e];
      if (feature < n_frequent_) break;  // rare features are the last ones
      const auto change = static_cast<float>(static_cast<double>(center.change->values[e]) *
                                             center.move->scale * (1.0 + 0x1p-20));
      float& gain = rare_gain_[index(feature - n_frequent_)];
      float& loss = rare_loss_[index(feature - n_frequent_)];
      if (change > 0.0F || signed_rows_) gain = std::max(gain, std::abs(change));
      if (change < 0.0F || signed_rows_) loss = std::max(loss, std::abs(change));
      rare_written_.push_back(feature);
    }
  }
}

}  // namespace arcmeans
