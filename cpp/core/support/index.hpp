// Features, centers and rows are numbered by signed integers, containers by std::size_t.
#pragma once

#include <concepts>
#include <cstddef>

namespace arcmeans {

// A number that is not negative, as the index of a container or its size.
constexpr std::size_t index(std::integral auto number) { return static_cast<std::size_t>(number); }

}  // namespace arcmeans
