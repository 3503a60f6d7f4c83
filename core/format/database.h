#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace headscope::format {

class Database;

/// An SQL statement, run once for each row that it writes, or stepped through the rows that it reads. The
/// database must outlive it. Parameters and columns are numbered from 0.
class Statement {
public:
    Statement(Database& database, std::string_view sql);
    Statement(Statement&&) = default;
    Statement& operator=(Statement&&) = default;

    // Binds the next parameter; text and bytes are copied.
    Statement& operator<<(std::int64_t number);
    Statement& operator<<(double number);
    Statement& operator<<(std::string_view text);
    Statement& operator<<(std::span<const std::byte> bytes);
    /// Runs a statement that returns no rows with the bound parameters, then restarts binding at the first
    /// parameter.
    void run();
    /// Steps to the next row. Returns false after the last one; the call after that starts over.
    bool next();

    // Columns of the current row. Values of another type are converted like in SQLite; null is 0 or empty.
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    /// Valid until the next call of next().
    std::span<const std::byte> bytes(int column) const;

private:
    void check(int code) const;

    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    Database* database_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    int bound_ = 0;
};

/// An SQLite 3 file. For one thread at a time.
class Database {
public:
    /// Opens a file for reading. Throws Error(input) with the path if there is no such file or it is not an
    /// SQLite database.
    static Database open(const std::string& path);
    /// Writes a database completely or not at all: `fill` receives an empty database, in one transaction,
    /// that replaces `path` once it is on disk. On failure `path` is unchanged. Throws Error(input) with the
    /// path, and anything that `fill` throws.
    static void write(const std::string& path, const std::function<void(Database&)>& fill);

    /// Runs statements without parameters and result rows.
    void run(const std::string& sql);
    const std::string& path() const { return path_; }

private:
    friend class Statement;
    Database(const std::string& file, int flags, std::string path);
    [[noreturn]] void fail(int code) const;

    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::string path_; ///< for messages
    std::unique_ptr<sqlite3, Close> database_;
};

} // namespace headscope::format
