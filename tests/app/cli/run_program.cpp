#include "tests/app/cli/run_program.h"

#include "core/base/file.h"
#include "tests/temporary_folder.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace headscope::test {
namespace {

#ifdef SANITIZER_TAKES_ADDRESSES
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif

} // namespace

ProgramRun run_program(const std::vector<std::string>& arguments, const std::string& input,
                       const std::map<std::string, std::string>& environment,
                       const ProgramSurroundings& surroundings) {
    const TemporaryFolder folder;
    const std::string in = folder.file("in"), out = folder.file("out"), err = folder.file("err");
    write_file_atomically(in, input);
    std::vector<std::string> words{HEADSCOPE_PROGRAM};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> argv;
    for (std::string& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);

    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        for (const auto& [name, value] : environment)
            ::setenv(name.c_str(), value.c_str(), 1);
        constexpr int create = O_WRONLY | O_CREAT | O_TRUNC, mode = 0600;
        ::dup2(::open(in.c_str(), O_RDONLY), STDIN_FILENO);
        const std::string& out_path = surroundings.out_path.empty() ? out : surroundings.out_path;
        ::dup2(::open(out_path.c_str(), create, mode), STDOUT_FILENO);
        ::dup2(::open(err.c_str(), create, mode), STDERR_FILENO);
        for (const auto& [what, most] : {std::pair{RLIMIT_FSIZE, surroundings.most_bytes},
                                         std::pair{RLIMIT_AS, limits_memory ? surroundings.most_memory : 0}})
            if (const rlimit limit{most, most}; most > 0)
                ::setrlimit(what, &limit);
        ::execv(argv.front(), argv.data());
        ::_exit(127);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    ProgramRun run;
    run.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    run.out = surroundings.out_path.empty() ? read_file(out) : "";
    run.err = read_file(err);
    return run;
}

} // namespace headscope::test
