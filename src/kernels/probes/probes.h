// probes.h: the loops behind peak_probes(), by the instructions that they need: each file is compiled for its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lagoon::probes {

/// Accumulators in flight: more than the latency of any of these instructions times how many begin in a cycle.
constexpr int chains = 12;
/// Of sums of products: only the addition waits for the one before.
constexpr int madd_chains = 8;

// Each runs `rounds` rounds and returns the multiply-adds that were executed.
double fma_256(int64_t rounds);       // vfmadd, 8 floats
double madd_256(int64_t rounds);      // vpmaddwd with the vpaddd that sums need, 16 products
double fma_512(int64_t rounds);       // vfmadd, 16 floats
double madd_512(int64_t rounds);      // vpmaddwd with vpaddd, 32 products
double byte_dot_512(int64_t rounds);  // vpdpbusd, 64 products
double bf16_dot_512(int64_t rounds);  // vdpbf16ps, 32 products

// Each reads `bytes` bytes, a multiple of read_step, from front to back and returns something that depends on all of them.
constexpr size_t read_step = 256;
constexpr size_t read_ahead = 2048;  // bytes; the processor's own prefetching stops at each page
uint64_t read_plain(const std::byte* from, size_t bytes);
uint64_t read_256(const std::byte* from, size_t bytes);
uint64_t read_512(const std::byte* from, size_t bytes);

}  // namespace lagoon::probes
