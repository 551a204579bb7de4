#include "commands/program.h"
#include "machine/worker_pool.h"

#include <malloc.h>
#include <pthread.h>

namespace {

/// What a thread may take of the address space is the program's own affair, not that of `ulimit -s` or of the C library's pools of memory for each
/// thread, which under a limit of address space would leave less for the model than the plan says. The stacks of workers hold a few kilobytes.
void bound_threads() {
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, lagoon::thread_stack_bytes) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

int main(int count, char** arguments) {
  bound_threads();
  return lagoon::run_program(count, arguments);
}
