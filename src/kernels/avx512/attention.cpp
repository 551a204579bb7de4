#include "kernels/vector/attention.h"

#include "kernels/avx512/lanes.h"
#include "kernels/vector_sets.h"

namespace lagoon::avx512 {

void add_attention(KernelSet& set) {
  set.attend_block = vector::attend_block<Lanes>;
  set.merge_attention = vector::merge_attention<Lanes>;
  set.finish_attention = vector::finish_attention<Lanes>;
}

}  // namespace lagoon::avx512
