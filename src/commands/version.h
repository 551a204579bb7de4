// version.h: which Lagoon this is.
#pragma once

#include <string>

namespace lagoon {

/// "0.1.0".
std::string version();

/// The commit that was built, shortened; empty outside a checkout.
std::string commit();

}  // namespace lagoon
