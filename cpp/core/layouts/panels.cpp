#include "core/layouts/panels.hpp"

namespace arcmeans {

template void panel_similarities(const Panels&, const SparseRow<float>&, float*);
template void panel_similarities(const Panels&, const SparseRow<double>&, float*);
template void panel_similarities(const Panels&, const DenseRow<float>&, float*);
template void panel_similarities(const Panels&, const DenseRow<double>&, float*);

}  // namespace arcmeans
