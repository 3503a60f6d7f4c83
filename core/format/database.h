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

/// A statement of SQL that is run once for each row that is written, or steps through the rows that it reads.
/// The database must outlive it. Parameters and columns are numbered from 0.
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
    /// Runs a statement without rows with the parameters bound; the next are bound from the first on.
    void run();
    /// Goes to the next row. False after the last one; the next call begins again.
    bool next();

    // Of the row. What is of another type is converted as SQLite does; what is null is 0 or empty.
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
    /// Opens a file to read. Throws Error(input) naming the path when there is none or when the file is no
    /// SQLite database.
    static Database open(const std::string& path);
    /// Writes a database whole or not at all: `fill` gets an empty one, in one transaction, that takes the
    /// place of `path` once it is on the disk. On failure what was there stays. Throws Error(input) naming
    /// the path, and what `fill` throws.
    static void write(const std::string& path, const std::function<void(Database&)>& fill);

    /// Runs statements without parameters and rows.
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
