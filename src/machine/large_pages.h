// large_pages.h: what the system is told about large buffers before they are first touched.
#pragma once

#include <cstddef>

namespace lagoon {

/// Asks for huge pages where a buffer has room for one, and, on machines with several memory nodes, for pages spread over all of
/// them in turn: every thread reads every expert, so that no node is the right one. Hints: a refusal changes nothing.
void advise_large(void* data, size_t bytes);

}  // namespace lagoon
