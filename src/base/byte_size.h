// byte_size.h: sizes in bytes, as people write and read them. Units are always spelled: kB, MB, GB, TB are powers of 1000,
// KiB, MiB, GiB, TiB powers of 1024, B is one byte. Sizes are carried as integers of bytes and printed as GiB.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lagoon {

/// Reads sizes such as "64GB" (64 x 10^9), "1.5GiB" (1.5 x 2^30) and "4096B". The unit is needed, blanks and other spellings
/// are not taken, and the result must be a whole number of bytes below 2^63.
/// @param what  the flag or key, which begins the sentence of an error
/// @throws Error(invalid)
uint64_t parse_byte_size(std::string_view text, std::string_view what);

/// For memory: "59.72 GiB", rounded to the nearest hundredth, ties away from zero, exact integer arithmetic.
std::string format_gib(uint64_t bytes);

/// For progress and small things: the largest binary unit that is not above the size, two decimals: "4.00 KiB", "512 B".
std::string format_binary(uint64_t bytes);

/// Exact: "64,122,027,323 bytes", "1 byte".
std::string format_bytes(uint64_t bytes);

/// "64,122,027,323".
std::string format_count(uint64_t count);

}  // namespace lagoon
