Feature: Changes of rights and users
  What a superuser changes applies at once, also to clients that are connected.

  Background:
    Given a broker with users
    And user "alice" with password "pw" and these rights:
      | pattern  | operations         |
      | orders.* | Publish, Subscribe |

  @AUTH-027 @AUTH-025
  Scenario: A revoked right does not apply any more
    Given the publisher is connected as user "alice" with password "pw"
    When user "alice" is revoked "orders.*"
    And user "alice" is revoked "orders.*"
    And the publisher publishes message "m1" to queue "orders.eu"
    Then message "m1" of the publisher is refused with NOT_AUTHORIZED

  @AUTH-027
  Scenario: A granted right applies at once
    Given the publisher is connected as user "alice" with password "pw"
    When user "alice" is granted "Publish" on "bills"
    And the publisher publishes message "m1" to queue "bills"
    Then message "m1" is confirmed to the publisher

  @AUTH-024
  Scenario: A grant for the same pattern replaces the operations
    Given the client is connected as user "alice" with password "pw"
    When user "alice" is granted "GetQueueInfo" on "orders.*"
    And the client sends a Publish with id "one" for queue "orders.eu"
    Then the client receives Error NOT_AUTHORIZED with id "one"
    When the client sends AdminGetUserPermissions about:
      | username | alice |
    Then the answer lists these rights:
      | pattern  | operations   |
      | orders.* | GetQueueInfo |

  @AUTH-026
  Scenario: A subscription ends with its right, and its messages go to others
    Given subscriber A is connected as user "alice" with password "pw"
    And subscriber A subscribes to queue "orders.eu"
    And the publisher publishes message "m1" to queue "orders.eu"
    And subscriber A receives message "m1"
    When user "alice" is granted "Publish" on "orders.*"
    Then queue "orders.eu" has 1 waiting message
    And queue "orders.eu" has 0 subscribers
    When subscriber B subscribes to queue "orders.eu"
    And the publisher publishes message "m2" to queue "orders.eu"
    Then subscriber B receives messages "m1, m2"
    And subscriber A receives no further message

  @AUTH-028 @AUTH-036
  Scenario: The connections of a deleted user are closed, and no new one is accepted
    Given client A is connected as user "alice" with password "pw"
    And client B is connected as user "alice" with password "pw"
    When user "alice" is deleted
    Then the broker closes the connection of client A
    And the broker closes the connection of client B
    Given client C has opened a connection
    When client C connects as user "alice" with password "pw"
    Then the command is refused with AUTH_FAILED

  @AUTH-029 @AUTH-037
  Scenario: A new password closes the connections of the user, and the old one is not valid any more
    Given client A is connected as user "alice" with password "pw"
    When the password of user "alice" is changed to "new"
    Then the broker closes the connection of client A
    Given client B has opened a connection
    When client B connects as user "alice" with password "pw"
    Then the command is refused with AUTH_FAILED
    When client B connects as user "alice" with password "new"
    Then the command succeeds

  @AUTH-029 @AUTH-038
  Scenario: A user that changes its own password keeps the connection that did it
    Given client A is connected as user "alice" with password "pw"
    And client B is connected as user "alice" with password "pw"
    When client A sends AdminChangePassword about:
      | username    | alice |
      | newPassword | new   |
    Then the answer repeats:
      | username | alice |
    And the broker closes the connection of client B
    And the connection of client A stays open
