# The course alone (preset `course`, scripts/course): of the library what a learner's program is linked to, of the command
# `tessera puzzle`. So the first puzzle runs minutes after cloning. tests/cli/course_build_test.py links and runs it.
option(TESSERA_ONLY_COURSE "Build of library and command only what the course needs" OFF)

# tessera_keep_course(SOURCES): takes from a list of sources what the course does not need; without the option, what only that needs.
function(tessera_keep_course sources)
  if(NOT TESSERA_ONLY_COURSE)
    list(FILTER ${sources} EXCLUDE REGEX "/cli/course_commands[.]cpp$")
  else()
    set(library "(core|cuda|puzzle|simt|tensor)/.*|io/(array|atomic_file|memory|npy|npy_types|registry)|layout/(cells|print|refused)")
    set(command "build_info|command_line|compile|compiler_messages|context|course_commands|cuda_text|help_formatter|json_text|machine|options")
    string(APPEND command "|program|puzzle.*|settings|signals|suggest|wrap|write_file")
    list(FILTER ${sources} INCLUDE REGEX "/src/(${library}|check/.*|cli/(${command}))[.]cpp$")
    list(FILTER ${sources} EXCLUDE REGEX
         "/check/(file_main|html_report|page|roofline_picture|source_listing|timeline_picture|unfinished)[.]cpp$")
  endif()
  set(${sources} ${${sources}} PARENT_SCOPE)
endfunction()
