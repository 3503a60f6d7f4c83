#include "core/tensor/relative_rows.h"
#include "tests/catch.h"

#include <utility>
#include <vector>

using namespace headscope;

namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>; ///< distance and row

void check_rows(const RelativeRows& rows, const Pairs& expected) {
    for (const auto& [distance, row] : expected) {
        INFO(rows.buckets << " buckets up to " << rows.furthest << ", distance " << distance);
        CHECK(rows.row_of(distance) == row);
    }
}

RelativeRows with_buckets(std::int64_t buckets, std::int64_t furthest) {
    return {.span = buckets, .buckets = buckets, .furthest = furthest};
}

} // namespace

// The rows are those of make_log_bucket_position in Hugging Face's DeBERTa-v2, run with PyTorch, plus the
// number of buckets and clipped to the table.
TEST_CASE("distances have the rows of Hugging Face's logarithmic buckets") {
    check_rows(with_buckets(256, 512),
               {{-600, 0},   {-512, 0},   {-511, 1},  {-300, 49}, {-200, 87}, {-140, 119}, {-129, 127},
                {-128, 128}, {-127, 129}, {-1, 255},  {0, 256},   {1, 257},   {127, 383},  {128, 384},
                {129, 385},  {130, 386},  {140, 393}, {146, 397}, {200, 425}, {237, 441},  {300, 463},
                {367, 481},  {400, 489},  {445, 499}, {471, 504}, {510, 511}, {511, 511},  {600, 511}});
    check_rows(with_buckets(4, 40), {{-600, 0},
                                     {-39, 1},
                                     {-30, 1},
                                     {-3, 1},
                                     {-2, 2},
                                     {-1, 3},
                                     {0, 4},
                                     {1, 5},
                                     {2, 6},
                                     {3, 7},
                                     {40, 7},
                                     {600, 7}});
    check_rows(with_buckets(6, 16), {{-16, 0},
                                     {-15, 1},
                                     {-5, 2},
                                     {-4, 2},
                                     {-3, 3},
                                     {0, 6},
                                     {3, 9},
                                     {4, 10},
                                     {6, 10},
                                     {7, 11},
                                     {15, 11},
                                     {29, 11}});
    check_rows(with_buckets(64, 512), {{-300, 6},
                                       {-129, 16},
                                       {-30, 34},
                                       {29, 93},
                                       {32, 96},
                                       {33, 97},
                                       {40, 99},
                                       {64, 104},
                                       {100, 109},
                                       {128, 112},
                                       {300, 122},
                                       {510, 127}});
}

TEST_CASE("an odd number of buckets, and a limit among the near distances, have Hugging Face's rows too") {
    check_rows(with_buckets(7, 30), {{-30, 1},
                                     {-17, 2},
                                     {-15, 2},
                                     {-4, 3},
                                     {-3, 4},
                                     {0, 7},
                                     {3, 10},
                                     {4, 11},
                                     {9, 11},
                                     {10, 12},
                                     {29, 12},
                                     {31, 13},
                                     {300, 13}});
    check_rows(with_buckets(16, 6), {{-600, 31},
                                     {-127, 31},
                                     {-30, 27},
                                     {-16, 18},
                                     {-8, 8},
                                     {-5, 11},
                                     {0, 16},
                                     {8, 24},
                                     {9, 23},
                                     {10, 21},
                                     {12, 18},
                                     {16, 14},
                                     {29, 5},
                                     {63, 0}});
}

TEST_CASE("without buckets, each distance has a row up to the ends of the table") {
    check_rows({.span = 3}, {{-9, 0}, {-3, 0}, {-2, 1}, {-1, 2}, {0, 3}, {1, 4}, {2, 5}, {3, 5}, {9, 5}});
    CHECK(RelativeRows{.span = 3}.count() == 6);
}
