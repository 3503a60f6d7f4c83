#include "core/analysis/survey/part_file.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/database.h"

#include <cstring>
#include <span>
#include <type_traits>

namespace headscope::analysis {

namespace {

/// As it lies in memory: a part is read by the same program that wrote it.
template<class Value>
std::vector<Value> values_of(std::span<const std::byte> bytes) {
    static_assert(std::is_trivially_copyable_v<Value>);
    std::vector<Value> values(bytes.size() / sizeof(Value));
    if (!values.empty())
        std::memcpy(values.data(), bytes.data(), values.size() * sizeof(Value));
    return values;
}

} // namespace

void write_part(const std::string& path, const SurveyPlan& plan, const SurveyState& state) {
    format::Database::write(path, [&](format::Database& file) {
        write_run(file, plan, state.counts, false);
        file.run("CREATE TABLE done (blocks BLOB);"
                 "CREATE TABLE summaries (layer INTEGER, head INTEGER, score INTEGER, count INTEGER, "
                 "sum_high INTEGER, sum_low INTEGER, squares_high INTEGER, squares_low INTEGER, "
                 "beside_high INTEGER, beside_low INTEGER, smallest REAL, buckets BLOB, largest BLOB)");
        format::Statement done(file, "INSERT INTO done VALUES (?)");
        done << std::as_bytes(std::span(state.done));
        done.run();
        format::Statement row(file, "INSERT INTO summaries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        for (std::int64_t l = 0; l < state.layers(); ++l)
            for (std::int64_t h = 0; h < state.H(); ++h)
                for (std::size_t s = 0; s < surveyed_scores().size(); ++s) {
                    const ScoreSummary::Parts parts = state.summary(l, h, s).parts();
                    row << l << h << static_cast<std::int64_t>(s) << parts.count << parts.sum[0]
                        << parts.sum[1] << parts.squares[0] << parts.squares[1] << parts.beside[0]
                        << parts.beside[1] << static_cast<double>(parts.smallest)
                        << std::as_bytes(parts.buckets) << std::as_bytes(parts.largest);
                    row.run();
                }
    });
}

SurveyPart read_part(const std::string& path, bool summaries) {
    format::Database file = format::Database::open(path);
    const SurveyRun run = read_run(file);
    SurveyPart part{run.plan, SurveyState(run.plan.layers, run.plan.H)};
    part.state.counts = run.counts;
    format::Statement done(file, "SELECT blocks FROM done");
    if (done.next())
        part.state.done = values_of<std::int64_t>(done.bytes(0));
    format::Statement row(file, "SELECT layer, head, score, count, sum_high, sum_low, squares_high, "
                                "squares_low, smallest, buckets, largest, beside_high, beside_low FROM "
                                "summaries");
    while (summaries && row.next()) {
        const std::int64_t l = row.integer(0), h = row.integer(1), s = row.integer(2);
        if (l < 0 || h < 0 || s < 0 || l >= run.plan.layers || h >= run.plan.H ||
            s >= std::ssize(surveyed_scores()))
            fail_input(tr("part_file.damaged_head_score_not",
                          "{} is damaged: it names a head or a score that does not exist; remove it and "
                          "start the survey again",
                          path));
        const auto buckets = values_of<ScoreSummary::Bucket>(row.bytes(9));
        const auto largest = values_of<ScoredPiece>(row.bytes(10));
        part.state.summary(l, h, static_cast<std::size_t>(s)) =
            ScoreSummary::from({.count = row.integer(3),
                                .sum = {row.integer(4), row.integer(5)},
                                .squares = {row.integer(6), row.integer(7)},
                                .beside = {row.integer(11), row.integer(12)},
                                .smallest = static_cast<float>(row.real(8)),
                                .buckets = buckets,
                                .largest = largest});
    }
    return part;
}

} // namespace headscope::analysis
