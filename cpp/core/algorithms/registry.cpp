#include "core/algorithms/registry.hpp"

#include <algorithm>
#include <string>

namespace arcmeans {

extern const AlgorithmRecord kLloyd;
extern const AlgorithmRecord kSimplifiedElkan;
extern const AlgorithmRecord kElkan;
extern const AlgorithmRecord kSimplifiedHamerly;
extern const AlgorithmRecord kHamerly;
extern const AlgorithmRecord kYinyang;
extern const AlgorithmRecord kExponion;
extern const AlgorithmRecord kShallot;
extern const AlgorithmRecord kSieve;
extern const AlgorithmRecord kTally;

std::span<const AlgorithmRecord* const> all_algorithms() {
  static constexpr const AlgorithmRecord* kAll[] = {
      &kLloyd,   &kSimplifiedElkan, &kElkan, &kSimplifiedHamerly, &kHamerly, &kYinyang, &kExponion,
      &kShallot, &kSieve,           &kTally,
  };
  return kAll;
}

const AlgorithmRecord& algorithm_record(std::string_view name) {
  for (const AlgorithmRecord* record : all_algorithms()) {
    if (record->name == name) return *record;
  }
  throw std::invalid_argument("there is no algorithm " + std::string(name));
}

namespace {

template <class T>
void fill(std::byte* array, std::int64_t n, double number) {
  std::fill_n(reinterpret_cast<T*>(array), n, static_cast<T>(number));
}

void fill(std::byte* array, NumberType type, std::int64_t n, double number) {
  switch (type) {
    case NumberType::int16:
      return fill<std::int16_t>(array, n, number);
    case NumberType::int32:
      return fill<std::int32_t>(array, n, number);
    case NumberType::float32:
      return fill<float>(array, n, number);
    case NumberType::float64:
      return fill<double>(array, n, number);
  }
}

}  // namespace

AllocatedAlgorithm::AllocatedAlgorithm(std::string_view name, const Problem& problem) {
  const AlgorithmRecord& record = algorithm_record(name);
  RowState arrays;
  for (const StateArray& wanted : record.row_state(problem)) {
    const std::int64_t n = problem.n_rows * wanted.columns;
    Buffer<std::byte>& array = state.emplace_back(index(n * bytes_of(wanted.type)));
    if (wanted.initial) fill(array.data(), wanted.type, n, *wanted.initial);
    arrays.push_back(array.data());
  }
  algorithm = record.make(problem, arrays);
}

}  // namespace arcmeans
