#include "tests/test_data.h"

#include <cstdlib>

namespace headscope {

std::string test_data(const std::string& below) {
    const char* const moved = std::getenv("HEADSCOPE_TEST_DATA");
    return (moved != nullptr ? moved : TEST_DATA) + below;
}

} // namespace headscope
