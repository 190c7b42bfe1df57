Feature: Rights
  A user may do what an entry of its access list allows, on the queues that the pattern of the entry matches.

  Background:
    Given a broker with users
    And queue "orders.eu" exists
    And queue "secret" exists

  @AUTH-016 @AUTH-021 @AUTH-022
  Scenario: A user may publish where its access list says so, and nowhere else
    Given user "alice" with password "pw" and these rights:
      | pattern  | operations |
      | orders.* | Publish    |
    And the publisher is connected as user "alice" with password "pw"
    When the publisher publishes message "m1" to queue "orders.eu"
    And the publisher publishes message "m2" to queue "secret"
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with NOT_AUTHORIZED
    And queue "orders.eu" has 1 waiting message
    And queue "secret" has 0 waiting messages

  @AUTH-016 @AUTH-021 @AUTH-022
  Scenario Outline: <command> needs the right <right>
    Given user "alice" with password "pw" and these rights:
      | pattern | operations |
      | *       | <others>   |
    And user "bob" with password "pw" and these rights:
      | pattern | operations |
      | *       | <right>    |
    And client A is connected as user "alice" with password "pw"
    And client B is connected as user "bob" with password "pw"
    When client A sends a <command> with id "one" for queue "secret"
    Then client A receives Error NOT_AUTHORIZED with id "one"
    And queue "secret" still exists
    When client B sends a <command> with id "two" for queue "secret"
    Then client B receives a <answer> with id "two"

    Examples:
      | command     | answer       | right        | others                                                                |
      | Publish     | PublishAck   | Publish      | Subscribe, CreateQueue, DeleteQueue, PurgeQueue, GetQueueInfo, ListQueues |
      | Subscribe   | SubscribeAck | Subscribe    | Publish, CreateQueue, DeleteQueue, PurgeQueue, GetQueueInfo, ListQueues   |
      | CreateQueue | CreateQueue  | CreateQueue  | Publish, Subscribe, DeleteQueue, PurgeQueue, GetQueueInfo, ListQueues     |
      | DeleteQueue | DeleteQueue  | DeleteQueue  | Publish, Subscribe, CreateQueue, PurgeQueue, GetQueueInfo, ListQueues     |
      | QueueInfo   | QueueInfo    | GetQueueInfo | Publish, Subscribe, CreateQueue, DeleteQueue, PurgeQueue, ListQueues      |
      | ListQueues  | ListQueues   | ListQueues   | Publish, Subscribe, CreateQueue, DeleteQueue, PurgeQueue, GetQueueInfo    |

  @AUTH-018 @AUTH-019
  Scenario Outline: The pattern <pattern> matches <matched> and not <other>
    Given user "alice" with password "pw" and these rights:
      | pattern   | operations |
      | <pattern> | Publish    |
    And the publisher is connected as user "alice" with password "pw"
    When the publisher publishes message "m1" to queue "<matched>"
    And the publisher publishes message "m2" to queue "<other>"
    Then message "m1" is confirmed to the publisher
    And message "m2" of the publisher is refused with NOT_AUTHORIZED

    Examples:
      | pattern   | matched          | other        |
      | orders.*  | orders.eu.north  | orders       |
      | ORDERS.eu | orders.EU        | orders.eu.no |
      | *.dlq     | orders.dlq       | orders.dlq.x |
      | o.ders    | o.ders           | orders       |
      | a*b*c     | a.x.b.y.c        | a.x.c.y.b    |
      | bestellung.größe | BESTELLUNG.GRÖßE | bestellung.grosse |

  @AUTH-020
  Scenario: The operations of all patterns that match are allowed
    Given user "alice" with password "pw" and these rights:
      | pattern  | operations   |
      | orders.* | Publish      |
      | *.eu     | GetQueueInfo |
    And the client is connected as user "alice" with password "pw"
    When the client sends a Publish with id "one" for queue "orders.eu"
    Then the client receives a PublishAck with id "one"
    When the client sends a QueueInfo with id "two" for queue "orders.eu"
    Then the client receives a QueueInfo with id "two"

  @AUTH-023
  Scenario: A list of queues shows only those that a pattern of the user matches
    Given user "alice" with password "pw" and these rights:
      | pattern  | operations |
      | orders.* | ListQueues |
    And user "bob" with password "pw" and these rights:
      | pattern | operations |
      | secret  | ListQueues |
    And client A is connected as user "alice" with password "pw"
    And client B is connected as user "bob" with password "pw"
    Then client A is shown the queues "orders.eu"
    And client B is shown the queues "secret"

  @AUTH-030
  Scenario: A publish creates its queue without the right to create queues
    Given user "alice" with password "pw" and these rights:
      | pattern | operations |
      | *       | Publish    |
    And the publisher is connected as user "alice" with password "pw"
    When the publisher publishes message "m1" to queue "new"
    Then message "m1" is confirmed to the publisher
    And queue "new" has 1 waiting message

  @ERROR-014
  Scenario: A client without the right does not learn whether a queue exists
    Given user "alice" with password "pw"
    And the client is connected as user "alice" with password "pw"
    When the client sends a QueueInfo with id "there" for queue "secret"
    And the client sends a QueueInfo with id "missing" for queue "nowhere"
    Then the client receives Error NOT_AUTHORIZED with each of the ids "there, missing"
