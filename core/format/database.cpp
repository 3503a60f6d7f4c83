#include "core/format/database.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/base/system_reason.h"

#include <fcntl.h>
#include <filesystem>
#include <sqlite3.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace headscope::format {

namespace {

/// Makes a rename durable by syncing its folder.
void sync_folder_of(const std::string& path) {
    const std::filesystem::path folder = std::filesystem::path(path).parent_path();
    const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor >= 0) {
        ::fsync(descriptor);
        ::close(descriptor);
    }
}

} // namespace

Statement::Statement(Database& database, std::string_view sql) : database_(&database) {
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v2(database.database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        &made, nullptr);
    statement_.reset(made);
    check(code);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

void Statement::check(int code) const {
    if (code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE)
        database_->fail(code);
}

Statement& Statement::operator<<(std::int64_t number) {
    check(sqlite3_bind_int64(statement_.get(), ++bound_, number));
    return *this;
}

Statement& Statement::operator<<(double number) {
    check(sqlite3_bind_double(statement_.get(), ++bound_, number));
    return *this;
}

Statement& Statement::operator<<(std::string_view text) {
    check(sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT,
                              SQLITE_UTF8));
    return *this;
}

Statement& Statement::operator<<(std::span<const std::byte> bytes) {
    check(sqlite3_bind_blob64(statement_.get(), ++bound_, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
    return *this;
}

void Statement::run() {
    while (next()) {
    }
}

bool Statement::next() {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW)
        return true;
    bound_ = 0;
    sqlite3_reset(statement_.get());
    check(code);
    return false;
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* const begin = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    const int size = sqlite3_column_bytes(statement_.get(), column);
    return begin == nullptr ? std::string() : std::string(begin, static_cast<std::size_t>(size));
}

std::span<const std::byte> Statement::bytes(int column) const {
    const auto* const begin = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
    return {begin, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* database) const {
    sqlite3_close_v2(database);
}

Database::Database(const std::string& file, int flags, std::string path) : path_(std::move(path)) {
    sqlite3* opened = nullptr;
    const int code = sqlite3_open_v2(file.c_str(), &opened, flags, nullptr);
    database_.reset(opened);
    if (code != SQLITE_OK)
        fail(code);
}

void Database::fail(int code) const {
    const bool writes = sqlite3_db_readonly(database_.get(), "main") == 0;
    if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT)
        fail_input(tr("database.no_sqlite_database_damaged",
                      "{} is not an SQLite database, or is damaged; name another file", path_));
    fail_input(
        writes ? tr("database.cannot_write_free_some",
                    "cannot write {}: {}; free some space, or name a file in a folder that can be written to",
                    path_, sqlite3_errstr(code))
               : tr("database.cannot_read", "cannot read {}: {}", path_, sqlite3_errstr(code)));
}

Database Database::open(const std::string& path) {
    std::error_code fault;
    if (!std::filesystem::is_regular_file(path, fault))
        fail_input(std::filesystem::exists(path, fault)
                       ? tr("database.no_file_hold_database",
                            "{} is not a file that can hold a database; name another one", path)
                       : tr("database.no_file_name_another", "there is no file {}; name another one", path));
    Database database(path, SQLITE_OPEN_READONLY, path);
    database.run("SELECT * FROM sqlite_master");
    // SQLite itself detects a truncated file only when it reads the missing part.
    Statement size(database, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size");
    if (!size.next() || size.integer(0) > static_cast<std::int64_t>(std::filesystem::file_size(path)))
        database.fail(SQLITE_CORRUPT);
    return database;
}

void Database::write(const std::string& path, const std::function<void(Database&)>& fill) {
    const std::string made = path + ".new";
    std::error_code fault;
    std::filesystem::remove(made, fault);
    try {
        {
            Database database(made, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, path);
            // No rollback journal: an incomplete file is discarded as a whole.
            database.run("PRAGMA journal_mode = OFF; PRAGMA synchronous = FULL; BEGIN");
            fill(database);
            database.run("COMMIT");
        }
        std::filesystem::rename(made, path);
        sync_folder_of(path);
    } catch (const std::filesystem::filesystem_error& error) {
        std::filesystem::remove(made, fault);
        fail_input(tr("database.cannot_write_name_file",
                      "cannot write {}: {}; name a file in a folder that can be written to", path,
                      system_reason(error.code().value())));
    } catch (...) {
        std::filesystem::remove(made, fault);
        throw;
    }
}

void Database::run(const std::string& sql) {
    const int code = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK)
        fail(code);
}

} // namespace headscope::format
