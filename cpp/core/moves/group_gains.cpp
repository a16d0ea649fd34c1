#include "core/moves/group_gains.hpp"

#include <bit>

#include "core/layouts/line_sums.hpp"
#include "core/support/parallel.hpp"

namespace arcmeans {

const GroupGains& GroupGains::of(Centers& centers, bool any_sign) {
  const auto* found = centers.find<GroupGains>();
  if (found && (found->any_sign() || !any_sign)) return *found;
  return centers.attach(std::make_unique<GroupGains>(centers, any_sign));
}

GroupGains::GroupGains(const Centers& centers, bool any_sign)
    : groups_(centers.size(), false),
      any_sign_(any_sign),
      n_frequent_(centers.n_frequent()),
      line_size_(index(n_frequent_) * kCacheLineShorts),
      lanes_(line_size_ * index(share_a_line() ? 1 : 2 * groups_.n_bound_blocks())),
      used_(index(n_frequent_ / kBlock + 1)),
      words_(index(n_frequent_ + 63) / 64),
      present_(words_ * index(centers.size())),
      listed_(index(centers.size())),
      rare_gain_(index(centers.n_features() - n_frequent_)),
      rare_loss_(rare_gain_.size()),
      untold_gain_(index(centers.size())),
      untold_loss_(untold_gain_) {}

// ‖m‖ of the centers of a lane, or more.
double GroupGains::longest() const {
  const int left = kCacheLineShorts - groups_.count();
  const int groups_a_lane = share_a_line() ? (groups_.count() + left - 1) / left : 1;
  return std::sqrt(static_cast<double>(groups_a_lane * groups_.group_size())) * largest_;
}

std::int16_t* GroupGains::lane(const std::int16_t* line, int lane) {
  return lanes_.data() + (line - lanes_.data()) + line_position(lane, kCacheLineShorts);
}

void GroupGains::moved(const Centers& centers, const SumChanges& changes, int n_threads) {
  std::vector<Telling> all(listed_.size());
  largest_ = 0.0;
  for (int j = 0; j < centers.size(); ++j) {
    const Telling center = all[index(j)] = telling(centers, changes[index(j)], j);
    forget(j);
    if (!center.told) continue;
    untold_gain_[index(j)] = untold(center, center.move->share());
    untold_loss_[index(j)] = untold(center, -center.move->share());
    largest_ = std::max({largest_, center.move->rise(!any_sign_), center.move->fall(!any_sign_)});
  }
  const double steps = kLongest / longest();
  factor_ = static_cast<float>(kCosineUnits / (kUnitRow * steps) * (1.0 + 0x1p-20));
  parallel_chunks(n_frequent_, kBlock, n_threads, [&](int, std::int64_t begin, std::int64_t end) {
    clear(begin, end);
    for (int j = 0; j < centers.size(); ++j) {
      if (all[index(j)].change) write(j, all[index(j)], steps, begin, end);
    }
  });
  for (std::size_t j = 0; j < all.size(); ++j) {
    if (all[j].change) listed_[j] |= !all[j].told || all[j].in_full;
  }
  write_rare(all);
}

GroupGains::Telling GroupGains::telling(const Centers& centers, const SumChange& change,
                                        int j) const {
  const CenterMove& move = centers.last_move(j);
  if (!move.moved()) return {};
  Telling center{&change, &move, centers.sums().frequent(j)};
  // Where sums below zero meet rows without negative values, a share of the cosine says nothing.
  center.told = move.kind == CenterMove::Kind::changed && (any_sign_ || !move.negative);
  center.in_full = center.told && std::abs(move.share()) > kSmallShare;
  return center;
}

GroupGains::Untold GroupGains::untold(const Telling& center, double share) const {
  const CenterMove& move = *center.move;
  const auto slack = [&](double length) {
    return outward_chord(std::abs(move.scale - move.scale_before) * length, 0);
  };
  if (any_sign_) return {slack(center.in_full ? move.length_rare : move.length_untouched), 0.0};
  if (share <= 0.0) return {0.0, 0.0};
  if (center.in_full) return {slack(move.length_rare), 0.0};
  return {0.0, share * (1.0 + 0x1p-40)};
}

void GroupGains::clear(std::int64_t begin, std::int64_t end) {
  char& used = used_[index(begin / kBlock)];
  for (std::size_t line = 0; used && line < lanes_.size(); line += line_size_) {
    std::fill_n(lanes_.data() + line + begin * kCacheLineShorts, (end - begin) * kCacheLineShorts,
                std::int16_t{0});
  }
  used = 0;
}

// Writes what one center has gained and lost in one feature into the lanes of its group.
class GroupGains::Writer {
 public:
  Writer(GroupGains& gains, int group, double steps)
      : gained_(gains.lane(gains.gains(group / kCacheLineShorts), group % kCacheLineShorts)),
        lost_(gains.lane(gains.losses(group / kCacheLineShorts), gains.loss_lane(group))),
        steps_(steps),
        both_(gains.any_sign_) {}

  void write(std::int64_t feature, double change) const {
    // A step more than the change is, which is far more than its rounding.
    const double size = change == 0.0 ? 0.0 : std::abs(change) * steps_ + 1.0;
    // Without a branch by the sign, which would be mispredicted too often.
    raise(change > 0.0 ? gained_ : lost_, feature, size);
    if (both_) raise(change > 0.0 ? lost_ : gained_, feature, size);
  }

 private:
  static void raise(std::int16_t* lane, std::int64_t feature, double size) {
    std::int16_t& number = lane[feature * kCacheLineShorts];
    number = std::max(number, static_cast<std::int16_t>(size));
  }
  std::int16_t* gained_;
  std::int16_t* lost_;
  double steps_;
  bool both_;
};

// Writes what a center has gained and lost in the features of a block: in all that it has, or in
// those whose sums changed. Notes which features it has.
void GroupGains::write(int j, const Telling& center, double steps, std::int64_t begin,
                       std::int64_t end) {
  const CenterMove& move = *center.move;
  const bool tell = center.told && known();
  const Writer writer(*this, groups_.of(j), steps);
  std::uint64_t* present = present_.data() + index(j) * words_;
  const std::int64_t first = begin / 64, last = (end + 63) / 64;
  if (!center.told) std::fill(present + first, present + last, 0);
  if (center.in_full && !listed_[index(j)]) {
    for (std::int64_t f = begin; f < end; ++f) {
      present[f / 64] |= std::uint64_t{center.sums[f] != 0} << (f % 64);
    }
  }
  std::uint64_t unchanged[kBlock / 64];  // the features whose sums did not change
  std::copy(present + first, present + last, unchanged);

  const std::int32_t* features = center.change->features.data();
  const auto* end_of_change = features + center.change->size();
  const auto* at = std::lower_bound(features, end_of_change, static_cast<std::int32_t>(begin));
  if (center.in_full || (tell && at != end_of_change && *at < end)) {
    used_[index(begin / kBlock)] = 1;
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

// The change of the scale is in the slack or in the stretch, so only the change of the sum counts.
void GroupGains::write_rare(const std::vector<Telling>& centers) {
  for (const std::int32_t feature : rare_used_) {
    rare_gain_[index(feature - n_frequent_)] = rare_loss_[index(feature - n_frequent_)] = 0.0F;
  }
  rare_used_.clear();
  for (const Telling& center : centers) {
    if (!center.told) continue;
    for (std::size_t e = center.change->size(); e-- > 0;) {
      const std::int32_t feature = center.change->features[e];
      if (feature < n_frequent_) break;
      const auto gained = static_cast<float>(static_cast<double>(center.change->values[e]) *
                                             center.move->scale * (1.0 + 0x1p-20));
      float& gain = rare_gain_[index(feature - n_frequent_)];
      float& loss = rare_loss_[index(feature - n_frequent_)];
      if (gained > 0.0F || any_sign_) gain = std::max(gain, std::abs(gained));
      if (gained < 0.0F || any_sign_) loss = std::max(loss, std::abs(gained));
      rare_used_.push_back(feature);
    }
  }
}

}  // namespace arcmeans
