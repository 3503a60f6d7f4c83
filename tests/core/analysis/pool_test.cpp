#include "core/analysis/pool.h"
#include "core/base/error.h"
#include "tests/catch.h"

#include <cmath>
#include <random>

using namespace headscope;
using namespace headscope::analysis;

TEST_CASE("pooling keeps the largest cell wherever it is, at every size") {
    std::mt19937 random(5);
    for (const auto& [rows, cols] : {std::pair{37, 53}, {64, 64}, {1, 9}}) {
        const auto count = static_cast<std::size_t>(rows * cols);
        for (int round = 0; round < 40; ++round) {
            std::vector<float> matrix(count, 0.1F);
            const std::size_t bright = random() % count;
            matrix[bright] = 0.9F;
            const std::int64_t out_rows = 1 + static_cast<std::int64_t>(random()) % rows;
            const std::int64_t out_cols = 1 + static_cast<std::int64_t>(random()) % cols;
            const auto pooled = max_pool(matrix, rows, cols, out_rows, out_cols);
            // The bright pixel is at its own position, and spreads at most to the neighbors that overlap it.
            const auto row = static_cast<std::int64_t>(bright) / cols,
                       col = static_cast<std::int64_t>(bright) % cols;
            const auto at =
                static_cast<std::size_t>(row * out_rows / rows * out_cols + col * out_cols / cols);
            CHECK(pooled[at] == 0.9F);
            CHECK(std::ranges::count(pooled, 0.9F) <= 4);
        }
    }
}

TEST_CASE("pooling twice is no smaller than pooling once") {
    std::mt19937 random(6);
    std::vector<float> matrix(100 * 100);
    for (float& value : matrix)
        value = static_cast<float>(random() % 1000) / 1000;
    const auto once = max_pool(matrix, 100, 100, 9, 9);
    const auto twice = max_pool(max_pool(matrix, 100, 100, 32, 32), 32, 32, 9, 9);
    for (std::size_t n = 0; n < once.size(); ++n)
        CHECK(twice[n] >= once[n]);
    CHECK(std::ranges::max(once) == std::ranges::max(matrix));
}

TEST_CASE("pooling at full size changes nothing") {
    const std::vector<float> matrix{1, 2, 3, 4, 5, 6};
    CHECK(max_pool(matrix, 2, 3, 2, 3) == matrix);
}

TEST_CASE("pooling leaves out what is no number, and parts count from their own corner") {
    const std::vector<float> matrix{NAN, INFINITY, 1, 2, NAN, -INFINITY, 3, 4};
    const auto pooled = max_pool(matrix, 2, 4, 1, 2);
    CHECK(std::isnan(pooled[0]));
    CHECK(pooled[1] == 4);
    CHECK(max_pool_part(matrix, 4, {0, 2, 1, 2}, 1, 1) == std::vector<float>{2});
    CHECK_THROWS_AS(max_pool(matrix, 2, 4, 3, 1), Error);
}

TEST_CASE("every cell lies under some place, and no place is without cells") {
    for (std::int64_t cells = 1; cells < 40; ++cells)
        for (std::int64_t places = 1; places <= cells; ++places) {
            std::int64_t covered = 0;
            for (std::int64_t at = 0; at < places; ++at) {
                const CellRun run = cells_under(at, places, cells);
                CHECK(run.begin <= covered);
                CHECK(run.end > run.begin);
                covered = run.end;
            }
            CHECK(covered == cells);
        }
}
