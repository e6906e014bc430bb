# Man pages from docs/man (if scdoc is installed) and shell completions printed by the command itself; both are installed, for the
# commands that are built.
find_program(TESSERA_SCDOC scdoc)
file(GLOB man_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.scd)
set(blas_page ${PROJECT_SOURCE_DIR}/docs/man/tessera-blas.1.scd)
if(NOT TARGET tessera)
  set(man_sources ${blas_page})
endif()
if(NOT TARGET tessera_blas)
  list(REMOVE_ITEM man_sources ${blas_page})
endif()
if(TESSERA_SCDOC AND man_sources)
  set(man_pages "")
  foreach(source ${man_sources})
    get_filename_component(page ${source} NAME_WLE)
    set(output ${PROJECT_BINARY_DIR}/man/${page})
    add_custom_command(OUTPUT ${output} COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
                       COMMAND sh -c "${TESSERA_SCDOC} < '${source}' > '${output}'" DEPENDS ${source} VERBATIM)
    list(APPEND man_pages ${output})
  endforeach()
  add_custom_target(man ALL DEPENDS ${man_pages})
  install(FILES ${man_pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
elseif(man_sources)
  message(STATUS "scdoc not found: the man pages are not built (Debian package scdoc)")
endif()

if(TARGET tessera)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  add_custom_command(OUTPUT ${completions}/bash ${completions}/zsh ${completions}/fish
                     COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
                     COMMAND sh -c "for s in bash zsh fish; do '$<TARGET_FILE:tessera>' completion $s > '${completions}/'$s || exit; done"
                     DEPENDS tessera VERBATIM)
  add_custom_target(completions ALL DEPENDS ${completions}/bash)
  install(FILES ${completions}/bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tessera)
  install(FILES ${completions}/zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _tessera)
  install(FILES ${completions}/fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME tessera.fish)
endif()
