#include "core/format/tsv.h"

#include "tests/catch.h"

#include <limits>
#include <numeric>

namespace headscope::test {

using namespace headscope::format;

TEST_CASE("matrices are pasted as lines with tabs", "[tsv]") {
    Tensor tensor(Shape{2, 1, 2, 3});
    std::iota(tensor.values().begin(), tensor.values().end(), 0.5F);
    CHECK(tsv(tensor) == "0.5\t1.5\t2.5\n3.5\t4.5\t5.5\n\n6.5\t7.5\t8.5\n9.5\t10.5\t11.5\n");
    CHECK(tsv(tensor, matrix_around(tensor, {1, 0, 1, 2})) == "6.5\t7.5\t8.5\n9.5\t10.5\t11.5\n");
    CHECK(tsv(tensor, {.origin = {0, 0, 1, 1}, .row_axis = 2, .col_axis = 3, .rows = 1, .cols = 2}) ==
          "4.5\t5.5\n");
    // Across: any two axes.
    CHECK(tsv(tensor, {.origin = {0, 0, 0, 2}, .row_axis = 2, .col_axis = 0, .rows = 2, .cols = 2}) ==
          "2.5\t8.5\n5.5\t11.5\n");
}

TEST_CASE("a vector is one row; numbers read back as they were", "[tsv]") {
    Tensor tensor(Shape{4});
    tensor.data()[0] = 0.1F;
    tensor.data()[1] = -std::numeric_limits<float>::infinity();
    tensor.data()[2] = 1.0F / 3.0F;
    tensor.data()[3] = 1e-30F;
    CHECK(tsv(tensor) == "0.1\t-inf\t0.33333334\t1e-30\n");
    CHECK(tsv(tensor, matrix_around(tensor, {2})) == tsv(tensor));
}

} // namespace headscope::test
