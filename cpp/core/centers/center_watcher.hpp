// What follows the centers. A watcher is attached to centers, which tell it of every change; the
// centers know nothing else of it. Layouts are watchers, and so is everything that is worked out
// from centers or from moves and brought up to date by the next move.
#pragma once

namespace arcmeans {

class Centers;
class SumChanges;

class CenterWatcher {
 public:
  virtual ~CenterWatcher() = default;

  // All sums of a center are about to become zero; they are still there. Different threads call
  // this for different centers at the same time.
  virtual void clearing(const Centers&, int /*center*/) {}

  // A center was placed.
  virtual void placed(const Centers&, int center) = 0;

  // All centers have moved: centers.last_move() says how, and `changes` are the sum changes of
  // those that moved.
  virtual void moved(const Centers&, const SumChanges& changes, int n_threads) = 0;
};

}  // namespace arcmeans
