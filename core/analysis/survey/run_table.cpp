#include "core/analysis/survey/run_table.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/format/database.h"

namespace headscope::analysis {

namespace {

constexpr std::int64_t format_version = 1;

} // namespace

void write_run(format::Database& file, const SurveyPlan& plan, const SurveyCounts& counts, bool done) {
    file.run("PRAGMA user_version = " + std::to_string(format_version) +
             "; CREATE TABLE runs (run INTEGER PRIMARY KEY, checkpoint TEXT, fingerprint TEXT, "
             "layers INTEGER, heads INTEGER, texts TEXT, texts_sha256 TEXT, length INTEGER, "
             "text_limit INTEGER, version TEXT, lines INTEGER, empty_lines INTEGER, invalid_lines INTEGER, "
             "text_count INTEGER, blocks INTEGER, texts_read INTEGER, texts_split INTEGER, "
             "texts_without_token INTEGER, pieces INTEGER, tokens INTEGER, done INTEGER);"
             "CREATE TABLE timings (run INTEGER PRIMARY KEY, seconds REAL)");
    format::Statement run(
        file, "INSERT INTO runs VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    run << plan.checkpoint << plan.fingerprint << plan.layers << plan.H << plan.texts << plan.texts_sha256
        << plan.length << plan.limit << plan.version << plan.lines << plan.empty_lines << plan.invalid_lines
        << plan.text_count << plan.blocks << counts.texts << counts.split << counts.no_token << counts.pieces
        << counts.tokens << static_cast<std::int64_t>(done);
    run.run();
    format::Statement timing(file, "INSERT INTO timings VALUES (1, ?)");
    timing << counts.seconds;
    timing.run();
}

SurveyRun read_run(format::Database& file) {
    format::Statement tables(file, "SELECT count(*) FROM sqlite_master WHERE name IN ('runs', 'timings')");
    if (!tables.next() || tables.integer(0) != 2)
        fail_input(tr("run_table.no_survey_name_file",
                      "{} is not a survey; name a file that headscope survey wrote", file.path()));
    format::Statement version(file, "PRAGMA user_version");
    if (!version.next() || version.integer(0) != format_version)
        fail_input(tr("run_table.version_format_program_reads",
                      "{} has version {} of the format, and this program reads version {}; use the program "
                      "that wrote it",
                      file.path(), version.integer(0), format_version));
    format::Statement run(file, "SELECT * FROM runs NATURAL JOIN timings");
    if (!run.next())
        fail_input(
            tr("run_table.holds_no_run_write", "{} holds no run; write the survey again", file.path()));
    int column = 0;
    const auto text = [&] { return run.text(++column); };
    const auto integer = [&] { return run.integer(++column); };
    SurveyRun read;
    SurveyPlan& plan = read.plan;
    plan.checkpoint = text();
    plan.fingerprint = text();
    plan.layers = integer();
    plan.H = integer();
    plan.texts = text();
    plan.texts_sha256 = text();
    plan.length = integer();
    plan.limit = integer();
    plan.version = text();
    plan.lines = integer();
    plan.empty_lines = integer();
    plan.invalid_lines = integer();
    plan.text_count = integer();
    plan.blocks = integer();
    SurveyCounts& counts = read.counts;
    counts.texts = integer();
    counts.split = integer();
    counts.no_token = integer();
    counts.pieces = integer();
    counts.tokens = integer();
    read.done = integer() != 0;
    counts.seconds = run.real(++column);
    return read;
}

} // namespace headscope::analysis
