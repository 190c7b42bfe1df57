Feature: The shared token
  A broker with a token accepts the clients that know it.

  Background:
    Given a broker that requires the token "a token of 32 or more characters"

  @AUTH-001
  Scenario: A client with the token may do everything with queues
    Given the client has opened a connection
    When the client connects with the token "a token of 32 or more characters"
    Then the command succeeds
    When the client creates queue "orders"
    Then the command succeeds

  @AUTH-002 @AUTH-004
  Scenario Outline: A client with another token is refused: <token>
    Given the client has opened a connection
    When the client connects with the token "<token>"
    Then the command is refused with AUTH_FAILED
    When the client sends a CreateQueue with id "create" for queue "orders"
    Then the client receives Error NOT_AUTHENTICATED with id "create"

    Examples:
      | token                               |
      | wrong                               |
      | a token of 32 or more characters.   |
      | A token of 32 or more characters    |

  @AUTH-003
  Scenario: A client without credentials is refused
    Given the client has opened a connection
    When the client connects without credentials
    Then the command is refused with AUTH_REQUIRED

  @AUTH-007
  Scenario: A user name and a password, which nobody asked for, change nothing
    Given the client has opened a connection
    When the client connects with the token "a token of 32 or more characters" and as user "alice" with password "pw"
    Then the command succeeds

  @AUTH-046
  Scenario: There are no admin commands
    Given the client is connected with the token "a token of 32 or more characters"
    When the client sends AdminListUsers without payload
    Then the command is refused with UNKNOWN_COMMAND

  @AUTH-057
  Scenario: The health server asks for no credentials
    When an HTTP client requests "/health/"
    Then the HTTP status is 200
